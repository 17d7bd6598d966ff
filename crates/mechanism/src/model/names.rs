//! Names in order, found by an open hash table of their places (FNV-1a, linear probing): constant time, no second copy of the text.

use std::sync::Arc;

use sinew_topology::NONE;

/// Names by place, and places by name; no names at all if every one is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameTable<S = Arc<str>> {
    names: Vec<S>,
    /// Places in `names`, or `NONE`: a power of two of slots, at most half of them used.
    slots: Vec<u32>,
}

impl<S: AsRef<str>> NameTable<S> {
    /// Of names in order. Where two are equal, the first is found.
    pub(crate) fn new(names: Vec<S>) -> Self {
        if names.iter().all(|name| name.as_ref().is_empty()) {
            return Self { names: Vec::new(), slots: Vec::new() };
        }
        let mut table = Self { slots: vec![NONE; (2 * names.len()).next_power_of_two()], names };
        for place in 0..table.names.len() {
            let slot = table.slot(table.names[place].as_ref());
            if table.slots[slot] == NONE {
                table.slots[slot] = place as u32;
            }
        }
        table
    }

    /// The name at a place; empty if there is none.
    pub(crate) fn get(&self, place: usize) -> &str {
        self.names.get(place).map_or("", S::as_ref)
    }

    /// The place of a name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        if self.names.is_empty() {
            return None;
        }
        let place = self.slots[self.slot(name)];
        (place != NONE).then_some(place as usize)
    }

    /// The first name, but the empty one, that an earlier place has, too.
    pub(crate) fn duplicate(&self) -> Option<&str> {
        let names = self.names.iter().map(S::as_ref).enumerate();
        let mut twice = names.filter(|(place, name)| !name.is_empty() && self.find(name) != Some(*place));
        twice.next().map(|(_, name)| name)
    }

    /// Bytes held, without the text.
    pub(crate) fn bytes(&self) -> usize {
        self.names.len() * size_of::<S>() + self.slots.len() * size_of::<u32>()
    }

    /// The slot of a name, or the free one where it belongs.
    fn slot(&self, name: &str) -> usize {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let mask = self.slots.len() - 1;
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
        // The low bits of FNV-1a alone are not spread well.
        let mut slot = (hash ^ (hash >> 32)) as usize & mask;
        while self.slots[slot] != NONE && self.names[self.slots[slot] as usize].as_ref() != name {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::NameTable;

    #[test]
    fn names_are_found_where_a_search_finds_them() {
        let mut names: Vec<String> = (0..1000).map(|i| format!("bone_{}", i * 7 % 611)).collect();
        names[5].clear();
        names[9].clear();
        let table = NameTable::new(names.clone());
        for name in names.iter().map(String::as_str).chain(["", "bone", "bone_611"]) {
            assert_eq!(table.find(name), names.iter().position(|n| n == name), "`{name}`");
        }
        for (place, name) in names.iter().enumerate() {
            assert_eq!(table.get(place), name);
        }
        assert_eq!(table.get(1000), "");
    }

    #[test]
    fn empty_names_are_no_names() {
        for names in [Vec::new(), vec![String::new(); 3]] {
            let table = NameTable::new(names);
            assert_eq!((table.find(""), table.get(0), table.bytes()), (None, "", 0));
        }
    }

    #[test]
    fn probes_stay_short() {
        // A search that looked at all names would look at 50,000 of them on average.
        let table = NameTable::new((0..100_000).map(|i| format!("link{i}")).collect());
        let mut longest = 0;
        let mut run = 0;
        for &slot in table.slots.iter().chain(&table.slots) {
            run = if slot == super::NONE { 0 } else { run + 1 };
            longest = longest.max(run);
        }
        assert!(longest < 200, "{longest} used slots in a row");
    }
}
