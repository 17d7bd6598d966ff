//! placeholder
use crate::iterate::Iterate;
use crate::sweep::{self, SweepReport};
use crate::workspace::TreeScratch;
#[derive(Clone, Debug)]
pub(crate) struct BlockScratch;
pub(crate) fn solve(
    at: &Iterate<'_>,
    tree: &mut TreeScratch,
    _s: &mut Option<Box<BlockScratch>>,
    done: &mut dyn FnMut(crate::Stage),
) -> SweepReport {
    sweep::solve(at, tree, done)
}
