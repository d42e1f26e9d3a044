//! Who gets a series: from its own lists and from the trailers of its commits,
//! each address once, To before Cc, and the reasons for each.

use std::collections::HashMap;

use crate::mail::person::Person;
use crate::mail::trailers;

/// In which header an address stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Header {
    /// An addressee.
    To,
    /// Someone who gets a copy.
    Cc,
}

/// One address and why it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// Who.
    pub person: Person,
    /// Where.
    pub header: Header,
    /// The reasons, in the order in which they were found: "To of the series",
    /// "Reviewed-by in net: add x".
    pub reasons: Vec<String>,
}

/// A list of recipients being put together.
#[derive(Clone, Debug, Default)]
pub struct Recipients {
    all: Vec<Recipient>,
    by_address: HashMap<String, usize>,
}

impl Recipients {
    /// Adds one address with its reason. An address that is there already gets
    /// the reason, a name if it had none, and moves to To when it is asked there.
    pub fn add(&mut self, person: &Person, header: Header, reason: impl Into<String>) {
        // Hosts ignore case; no list or maintainer relies on case before the @.
        let key = person.email.to_ascii_lowercase();
        if let Some(known) = self.by_address.get(&key).and_then(|&i| self.all.get_mut(i)) {
            known.header = known.header.min(header);
            if known.person.name.is_empty() {
                known.person.name.clone_from(&person.name);
            }
            let reason = reason.into();
            if !known.reasons.contains(&reason) {
                known.reasons.push(reason);
            }
            return;
        }
        self.by_address.insert(key, self.all.len());
        self.all.push(Recipient { person: person.clone(), header, reasons: vec![reason.into()] });
    }

    /// Adds everyone whom the trailers of a commit message name.
    pub fn add_trailers(&mut self, message: &str) {
        let subject = message.lines().next().unwrap_or_default();
        for trailer in trailers::find(message) {
            for person in trailers::people(&trailer) {
                self.add(&person, Header::Cc, format!("{} in {subject}", trailer.key));
            }
        }
    }

    /// Takes an address out: the sender's own, or one that the series does not want.
    pub fn remove(&mut self, email: &str) {
        let key = email.to_ascii_lowercase();
        self.all.retain(|r| r.person.email.to_ascii_lowercase() != key);
        self.by_address = self
            .all
            .iter()
            .enumerate()
            .map(|(i, r)| (r.person.email.to_ascii_lowercase(), i))
            .collect();
    }

    /// All of them, To before Cc, otherwise in the order in which they came.
    #[must_use]
    pub fn all(&self) -> Vec<&Recipient> {
        let mut all: Vec<&Recipient> = self.all.iter().collect();
        all.sort_by_key(|r| r.header);
        all
    }

    /// The people of one header.
    #[must_use]
    pub fn of(&self, header: Header) -> Vec<Person> {
        self.all.iter().filter(|r| r.header == header).map(|r| r.person.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_once_and_to_before_cc() {
        let mut r = Recipients::default();
        r.add(&Person::new("", "netdev@vger.kernel.org"), Header::Cc, "list");
        r.add_trailers("net: x\n\nCc: Joe Doe <joe@x.org>\nReviewed-by: Joe <JOE@x.org>\nCc: NetDev@vger.kernel.org\n");
        r.add(&Person::new("J", "joe@X.org"), Header::To, "maintainer");
        let all: Vec<(&str, &str, Header, usize)> = r
            .all()
            .iter()
            .map(|r| (r.person.name.as_str(), r.person.email.as_str(), r.header, r.reasons.len()))
            .collect();
        assert_eq!(
            all,
            [
                ("Joe Doe", "joe@x.org", Header::To, 3),
                ("", "netdev@vger.kernel.org", Header::Cc, 2)
            ]
        );
        r.remove("Joe@x.org");
        assert_eq!((r.of(Header::To).len(), r.of(Header::Cc).len()), (0, 1));
        r.add(&Person::new("", "new@x.org"), Header::Cc, "again");
        assert_eq!(r.of(Header::Cc).len(), 2);
    }
}
