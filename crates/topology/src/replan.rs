//! Re-plans only the islands that an edit touches.
//!
//! An island is touched when the edit adds a constraint at one of its variables or removes one of its
//! variables or constraints. The touched variables and the additions form a small graph that is planned from
//! scratch; all other islands are copied with renumbered ids. Renumbering keeps the order of ids and the plan
//! of an island depends on its own members only, so the result equals a plan from scratch exactly.
//!
//! Cost: a linear copy, plus planning the touched part. Errors are those of building and planning.

use crate::edit::{GraphEdit, IdMap};
use crate::id::{ConstraintId, NONE, VariableId, dense};
use crate::plan::{EliminationPlan, Island, PlanPair, PlanTables, PlanTree};
use crate::{error::TopologyError, graph::Graph, planner::plan};
use std::ops::Range;

/// An edited graph with its plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replanned {
    /// The edited graph.
    pub graph: Graph,
    /// Its plan, equal to the one [`plan`] would give.
    pub plan: EliminationPlan,
    /// Where each old or added id went.
    pub ids: IdMap,
    /// Number of pairs that were planned anew rather than copied.
    pub n_replanned: usize,
}

/// Applies an edit to a graph and its plan.
///
/// # Errors
/// Whatever is wrong with the edited graph, naming ids of the old graph or of the edit; a cycle of primary
/// constraints names ids of the edited graph.
pub fn replan(old_plan: &EliminationPlan, old: &Graph, edit: &GraphEdit) -> Result<Replanned, TopologyError> {
    let (graph, ids) = edit.apply(old)?;
    let touched_islands = touched_islands(old_plan, old, edit);
    let is_touched = touched_variables(old_plan, &touched_islands, &graph, &ids);
    let part_of_whole = IdMap::keeping(
        &graph,
        |id| is_touched[id.index()],
        |&id| is_touched[graph.endpoints(id).child().index()],
    );
    // Ids differ in the part: if it fails, plan the whole graph, so that the error names ids of the whole graph.
    let part_plan = plan(&part_of_whole.restricted(&graph)).or_else(|_| plan(&graph))?;

    let untouched = old_plan.islands().iter().zip(&touched_islands).filter(|(_, touched)| !**touched);
    let copied = untouched.map(|(island, _)| Source { tables: old_plan.tables(), island, ids: &ids });
    let whole_of_part = part_of_whole.inverse();
    let planned = part_plan.islands().iter();
    let planned = planned.map(|island| Source { tables: part_plan.tables(), island, ids: &whole_of_part });
    let mut sources: Vec<Source<'_>> = copied.chain(planned).collect();
    sources.sort_by_key(Source::first_variable);
    let mut tables = PlanTables::default();
    for source in &sources {
        source.append_to(&mut tables);
    }
    let n_replanned = part_plan.pairs().len();
    Ok(Replanned { plan: EliminationPlan::from_tables(&graph, tables), graph, ids, n_replanned })
}

/// For each island of the old plan, whether the edit touches it.
fn touched_islands(old_plan: &EliminationPlan, old: &Graph, edit: &GraphEdit) -> Vec<bool> {
    let removed_constraints = edit.removed_constraints.iter().filter(|id| id.index() < old.n_constraints());
    let loose_ends = removed_constraints.flat_map(|&id| old.endpoints(id).variables());
    let new_ends = edit.added.constraints.iter().flat_map(|constraint| constraint.endpoints.variables());
    let mut touched = vec![false; old_plan.islands().len()];
    for variable in edit.removed_variables.iter().copied().chain(loose_ends).chain(new_ends) {
        if variable.index() < old.n_variables() {
            touched[old_plan.island_of(variable)] = true;
        }
    }
    touched
}

/// For each variable of the new graph, whether it is new or comes from a touched island.
fn touched_variables(plan: &EliminationPlan, islands: &[bool], graph: &Graph, ids: &IdMap) -> Vec<bool> {
    let mut touched = vec![true; graph.n_variables()];
    for (island, _) in plan.islands().iter().zip(islands).filter(|(_, touched)| !**touched) {
        for pair in &plan.pairs()[island.pairs.start as usize..island.pairs.end as usize] {
            if let Some(new) = ids.variable(pair.variable) {
                touched[new.index()] = false;
            }
        }
    }
    touched
}

/// An island of a plan, to be copied with new ids; every member has a new id.
struct Source<'a> {
    tables: &'a PlanTables,
    island: &'a Island,
    ids: &'a IdMap,
}

impl Source<'_> {
    fn first_variable(&self) -> VariableId {
        self.variable(self.island.first_variable)
    }

    fn variable(&self, id: VariableId) -> VariableId {
        self.ids.variable(id).expect("variables of a copied island stay")
    }

    fn constraint(&self, id: ConstraintId) -> ConstraintId {
        self.ids.constraint(id).expect("constraints of a copied island stay")
    }

    fn append_to(&self, tables: &mut PlanTables) {
        let island = self.island;
        let pairs = moved(&island.pairs, tables.pairs.len());
        let trees = moved(&island.trees, tables.trees.len());
        let loops = moved(&island.loops, tables.loops.len());
        let shift = |position: u32| position - island.pairs.start + pairs.start;
        tables.pairs.extend(slice(&self.tables.pairs, &island.pairs).iter().map(|pair| PlanPair {
            variable: self.variable(pair.variable),
            constraint: pair.constraint.map(|id| self.constraint(id)),
            parent: if pair.parent == NONE { NONE } else { shift(pair.parent) },
            flipped: pair.flipped,
        }));
        tables.trees.extend(
            slice(&self.tables.trees, &island.trees)
                .iter()
                .map(|tree| PlanTree { pairs: shift(tree.pairs.start)..shift(tree.pairs.end) }),
        );
        tables.loops.extend(slice(&self.tables.loops, &island.loops).iter().map(|&id| self.constraint(id)));
        tables.islands.push(Island { first_variable: self.first_variable(), pairs, trees, loops });
    }
}

fn slice<'a, T>(items: &'a [T], range: &Range<u32>) -> &'a [T] {
    &items[range.start as usize..range.end as usize]
}

fn moved(range: &Range<u32>, start: usize) -> Range<u32> {
    dense(start)..dense(start + range.len())
}
