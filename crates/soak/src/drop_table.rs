//! `soak drops`: every shape on every other and on the ground, at all speeds, implicit and in joint coordinates.

use sinew_soak::{Drop, DropRun, Ground, SPEEDS, Thing};

use crate::options::Options;

/// Whether nothing tunnels, gains energy or ends inside something else; what still moves is counted.
pub(crate) fn run(options: &Options) -> bool {
    println!(
        "{:<10} {:>6} {:>9} {:>9} {:>9} {:>9}  which",
        "dropped", "runs", "through", "gaining", "inside", "moving"
    );
    let chosen = Thing::ALL.into_iter().filter(|thing| name(thing).contains(&options.scheme));
    // All of them are run, whatever fails.
    chosen.filter(|&thing| !drop_all(thing)).count() == 0
}

/// Drops a thing on everything and prints its row.
fn drop_all(upper: Thing) -> bool {
    let runs: Vec<(Drop, DropRun)> = drops(upper).filter_map(|drop| Some((drop, drop.run().ok()?))).collect();
    let count = |is: fn(&DropRun) -> bool| runs.iter().filter(|(_, run)| is(run)).count();
    let failed = |run: &DropRun| run.is_through || run.gains || run.is_inside;
    let seen = runs.iter().filter(|(_, run)| failed(run) || run.moves);
    let listed = seen.map(|(drop, _)| describe(drop)).collect::<Vec<_>>().join(", ");
    let (name, n) = (name(&upper), runs.len());
    let [through, gaining] = [count(|run| run.is_through), count(|run| run.gains)];
    let [inside, moving] = [count(|run| run.is_inside), count(|run| run.moves)];
    println!("{name:<10} {n:>6} {through:>9} {gaining:>9} {inside:>9} {moving:>9}  {listed}");
    !runs.iter().any(|(_, run)| failed(run))
}

/// All drops of a thing. Flesh is stepped implicitly only.
fn drops(upper: Thing) -> impl Iterator<Item = Drop> {
    let below = Thing::ALL.into_iter().map(|lower| (Some(lower), Ground::Plane));
    let alone = Ground::ALL.into_iter().map(|ground| (None, ground));
    let places: Vec<_> = alone.chain(below).collect();
    places.into_iter().flat_map(move |(lower, ground)| {
        let has_flesh = upper == Thing::Flesh || lower == Some(Thing::Flesh);
        let schemes: &[bool] = if has_flesh { &[false] } else { &[false, true] };
        schemes.iter().flat_map(move |&is_reduced| {
            SPEEDS.into_iter().map(move |speed| Drop { upper, lower, ground, speed, is_reduced })
        })
    })
}

fn name(thing: &Thing) -> String {
    format!("{thing:?}").to_lowercase()
}

fn describe(drop: &Drop) -> String {
    let below = drop.lower.as_ref().map_or_else(|| format!("{:?}", drop.ground).to_lowercase(), name);
    let scheme = if drop.is_reduced { " reduced" } else { "" };
    format!("{below} {}{scheme}", drop.speed)
}
