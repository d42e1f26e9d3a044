//! Small TOML values that may be written in two ways: one or a list, a file
//! name or an inline text, a number or "all".

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// One value, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        OneOrMany(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value or a list of them")
            }
            // Delegating, and not trying one form after the other, keeps the
            // inner error with its place.
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Ok(OneOrMany(vec![T::deserialize(MapAccessDeserializer::new(map))?]))
            }
            fn visit_str<E: serde::de::Error>(self, s: &str) -> Result<Self::Value, E> {
                Ok(OneOrMany(vec![T::deserialize(StrDeserializer::new(s))?]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = seq.next_element()? {
                    all.push(one);
                }
                Ok(OneOrMany(all))
            }
        }
        d.deserialize_any(Either(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany{}", T::schema_name()).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

/// A template: the name of a file below `templates/NAME/`, or an inline text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawText {
    /// A template file.
    File(String),
    /// `{ text = "…" }`, a template too.
    Inline(String),
}

impl<'de> Deserialize<'de> for RawText {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = RawText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a template file, or { text = \"…\" }")
            }
            fn visit_str<E: serde::de::Error>(self, s: &str) -> Result<RawText, E> {
                Ok(RawText::File(s.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawText, A::Error> {
                let mut text = None;
                while let Some(key) = map.next_key::<String>()? {
                    if key != "text" {
                        return Err(A::Error::unknown_field(&key, &["text"]));
                    }
                    text = Some(map.next_value::<String>()?);
                }
                text.map(RawText::Inline).ok_or_else(|| A::Error::missing_field("text"))
            }
        }
        d.deserialize_any(Either)
    }
}

impl JsonSchema for RawText {
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The name of a template file below templates/NAME/, or an inline template.",
            "anyOf": [
                { "type": "string", "minLength": 1 },
                {
                    "type": "object",
                    "properties": { "text": { "type": "string" } },
                    "required": ["text"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

/// How many places an edit has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawTimes {
    /// Exactly so many.
    Exactly(u32),
    /// Every place, at least one.
    All,
}

impl<'de> Deserialize<'de> for RawTimes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = RawTimes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number from 1 or \"all\"")
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<RawTimes, E> {
                match u32::try_from(n) {
                    Ok(n) if n > 0 => Ok(RawTimes::Exactly(n)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Signed(n), &self)),
                }
            }
            fn visit_str<E: serde::de::Error>(self, s: &str) -> Result<RawTimes, E> {
                if s == "all" {
                    Ok(RawTimes::All)
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Str(s), &self))
                }
            }
        }
        d.deserialize_any(Either)
    }
}

impl JsonSchema for RawTimes {
    fn schema_name() -> Cow<'static, str> {
        "Times".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "all" }] })
    }
}

/// A date with time and offset, in TOML's own notation.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(transparent)]
pub struct RawDate(pub toml::value::Datetime);

impl JsonSchema for RawDate {
    fn schema_name() -> Cow<'static, str> {
        "Date".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A TOML date with time and offset: 2024-11-29T12:00:00Z",
            "type": "string",
            "format": "date-time"
        })
    }
}
