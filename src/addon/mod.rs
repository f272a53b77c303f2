//! The only N-API code.
