//! Patterns of names: `*` stands for any text, `?` for one character.

/// Whether a name fits a pattern. Cost: the product of both lengths at most.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // where to go on if the text of the last star must be longer
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((after, at)) => {
                    star = Some((after, at + 1));
                    (p, n) = (after, at + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name) in
            [("*", ""), ("arm_*", "arm_0001"), ("*_?", "left_1"), ("a*b*c", "aXbYbZc"), ("ö?", "öß")]
        {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("arm_*", "leg_1"), ("?", ""), ("a*b", "ab_"), ("a", "A")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
        assert!(!fits(&"*a".repeat(40), &"a".repeat(39)));
    }
}
