//! Two lists of items that belong to numbered owners in one, with the numbers that the owners have then. Cost: one pass; what is in order is not
//! moved.

use sinew_scene::GONE;

/// Puts `others` among `items`, sorted by the numbers of their owners; items of one owner keep their order. Numbers, which `get` and `set` read and
/// write, change as the tables say; items whose number is [`GONE`] then are left out. Where both lists have items of one owner, the others count.
pub(crate) fn merge_by<T>(
    (get, set): (impl Fn(&T) -> u32, impl Fn(&mut T, u32)),
    (items, numbers): (&mut Vec<T>, &[u32]),
    (mut others, other_numbers): (Vec<T>, &[u32]),
) {
    let known = numbers.iter().chain(other_numbers).filter(|number| **number != GONE);
    let mut is_other = vec![false; known.max().map_or(0, |&last| last as usize + 1)];
    for &number in other_numbers.iter().filter(|number| **number != GONE) {
        is_other[number as usize] = true;
    }
    let renumber = |item: &mut T, numbers: &[u32]| {
        let new = numbers.get(get(item) as usize).copied().unwrap_or(GONE);
        set(item, new);
        new
    };
    items.retain_mut(|item| {
        let new = renumber(item, numbers);
        new != GONE && !is_other[new as usize]
    });
    others.retain_mut(|item| renumber(item, other_numbers) != GONE);
    items.append(&mut others);
    if !items.is_sorted_by_key(&get) {
        items.sort_by_key(|item| get(item));
    }
}
