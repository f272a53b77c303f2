//! What a stream says, read from its file: by page, by line, by search, or a glimpse of it.
//!
//! Everything is blocking and reads by position, so that one descriptor serves any number of readers; nothing holds a
//! stream in memory. A stream's text is its bytes as `Buffer.toString("utf8")` decodes them, measured in UTF-16 units.
//! Following a live stream, and whose stream it is, are not decided here.
//!
//! [`Indexer`] and what it needs are small and free of dependencies on the search: the keeper links them.

mod decode;
mod ill_formed;
mod index;
mod indexer;
mod lines;
mod page;
mod preview;
mod search;
mod walk;

pub use decode::{Mark, head_units, tail_units, units};
pub use index::{Tail, TextIndex};
pub use indexer::{HEADER_BYTES, Indexer, RECORD_BYTES, header};
pub use lines::{LinePage, LineRequest, line_page};
pub use page::{PageRequest, TextPage, page};
pub use preview::{HeadPreview, NO_OUTPUT, head_preview, tail_preview};
pub use search::{Match, SearchError, SearchRequest, SearchResult, search};
