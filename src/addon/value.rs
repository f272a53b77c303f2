//! From JavaScript values to [`Value`]s.

use napi::bindgen_prelude::{ArrayBuffer, JsObjectValue as _, Object, Unknown};
use napi::{JsString, JsValue as _, KeyCollectionMode, KeyConversion, KeyFilter, Result, ValueType};

use crate::input::Value;

/// Deepest nesting that any option has, with room: a cycle ends here.
const MAX_DEPTH: usize = 8;
/// Most parts of one argument: as many strings as the kernel takes, with room.
const MAX_PARTS: usize = 300_000;

/// Reads an argument.
pub(super) fn read(value: Unknown<'_>) -> Result<Value> {
    Reader { parts: 0 }.read(value, 0)
}

/// Reads `process.env`, which comes as one string where a string can say it: each name and each value ends with a NUL.
/// Reading it variable by variable would be most of what a start holds the event loop for.
pub(super) fn read_variables(value: Unknown<'_>) -> Result<Value> {
    let value = read(value)?;
    let Value::Text(joined) = &value else { return Ok(value) };
    let mut parts = joined.split_terminator('\0').map(str::to_owned);
    let mut variables = Vec::new();
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        variables.push((name, Value::Text(value)));
    }
    Ok(Value::Record(variables))
}

struct Reader {
    parts: usize,
}

impl Reader {
    fn read(&mut self, value: Unknown<'_>, depth: usize) -> Result<Value> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Ok(Value::Other("a value with too many parts"));
        }
        Ok(match value.get_type()? {
            ValueType::Undefined => Value::Absent,
            ValueType::Null => Value::Null,
            ValueType::Boolean => Value::Bool(value.coerce_to_bool()?),
            ValueType::Number => Value::Number(value.coerce_to_number()?.get_double()?),
            ValueType::String => text(value.coerce_to_string()?)?,
            ValueType::Symbol => Value::Other("a symbol"),
            ValueType::BigInt => Value::Other("a BigInt"),
            ValueType::Function => Value::Function,
            ValueType::Object if depth == MAX_DEPTH => Value::Other("an object nested too deeply"),
            ValueType::Object => self.object(&value, depth)?,
            ValueType::External | ValueType::Unknown => Value::Other("a value of another kind"),
        })
    }

    fn object(&mut self, value: &Unknown<'_>, depth: usize) -> Result<Value> {
        if value.is_typedarray()? || value.is_buffer()? {
            return bytes(&value.coerce_to_object()?);
        }
        let object = value.coerce_to_object()?;
        if value.is_array()? {
            return self.list(&object, depth);
        }
        if !is_plain(&object)? {
            return Ok(Value::Other("an instance of a class"));
        }
        let names = object.get_all_property_names(
            KeyCollectionMode::OwnOnly,
            KeyFilter::Enumerable,
            KeyConversion::NumbersToStrings,
        )?;
        let mut entries = Vec::new();
        for at in 0..names.get_array_length()? {
            let name: Unknown<'_> = names.get_element(at)?;
            if name.get_type()? != ValueType::String {
                continue; // a symbol names no option
            }
            let name = name.coerce_to_string()?;
            let Value::Text(key) = text(name)? else {
                return Ok(Value::Other("an object with a lone surrogate in a key"));
            };
            let entry: Unknown<'_> = object.get_property(name)?;
            entries.push((key, self.read(entry, depth + 1)?));
        }
        Ok(Value::Record(entries))
    }

    fn list(&mut self, object: &Object<'_>, depth: usize) -> Result<Value> {
        let mut items = Vec::new();
        for at in 0..object.get_array_length()? {
            let item = self.read(object.get_element(at)?, depth + 1)?;
            if self.parts > MAX_PARTS {
                return Ok(Value::Other("an array with too many parts"));
            }
            items.push(item);
        }
        Ok(Value::List(items))
    }
}

/// A string, or the fact that no bytes stand for it.
fn text(string: JsString<'_>) -> Result<Value> {
    let length = string.utf16_len()?;
    let units = string.into_utf16()?;
    // What came has a NUL at its end that is not the string's.
    Ok(String::from_utf16(units.get(..length).unwrap_or(&units)).map_or(Value::BrokenText, Value::Text))
}

/// The bytes that a `Buffer` or `Uint8Array` shows; other views are no bytes by themselves.
fn bytes(view: &Object<'_>) -> Result<Value> {
    const OTHER: Value = Value::Other("a typed array other than Uint8Array");
    let element_size: Option<f64> = view.get("BYTES_PER_ELEMENT")?;
    let (Some(offset), Some(length)) = (view.get::<f64>("byteOffset")?, view.get::<f64>("byteLength")?)
    else {
        return Ok(OTHER);
    };
    let Ok(Some(buffer)) = view.get::<ArrayBuffer<'_>>("buffer") else {
        return Ok(Value::Other("bytes in shared memory"));
    };
    if element_size != Some(1.0) {
        return Ok(OTHER);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes of memory, checked by `get`"
    )]
    let (offset, length) = (offset as usize, length as usize);
    Ok(buffer.get(offset..offset.saturating_add(length)).map_or(OTHER, |bytes| Value::Bytes(bytes.to_vec())))
}

/// Whether an object is a record rather than an instance: its prototype is none, or the root of some realm.
fn is_plain(object: &Object<'_>) -> Result<bool> {
    let prototype: Unknown<'_> = object.get_prototype()?;
    if prototype.get_type()? != ValueType::Object {
        return Ok(true);
    }
    let root: Unknown<'_> = prototype.coerce_to_object()?.get_prototype()?;
    Ok(root.get_type()? == ValueType::Null)
}
