//! Netcode with rollback: two players step the same world from their own inputs and guesses, and agree to the bit once the inputs arrive.

use sinew_sim::{
    BodyDoc, BodyId, BuildError, ColliderDoc, ContactDoc, DVec3, Force, Input, SceneDoc, ShapeDoc, State,
    World,
};

/// How late inputs of the other player arrive, in steps.
const LATE: usize = 6;

/// What a player does in a step: a push on its own puck.
fn push(player: usize, step: usize) -> DVec3 {
    let beat = (step / 10 + 3 * player) % 4;
    [DVec3::X, DVec3::Y, DVec3::NEG_X, DVec3::NEG_Y][beat] * 40.0
}

fn input(pucks: &[BodyId; 2], pushes: [DVec3; 2]) -> Input {
    let wrench = |(&puck, force)| (puck, Force::new(DVec3::ZERO, force));
    Input { wrenches: pucks.iter().zip(pushes).map(wrench).collect(), ..Input::default() }
}

/// One player: its world, and the states before the steps that are not certain yet.
struct Player {
    world: World,
    pucks: [BodyId; 2],
    number: usize,
    uncertain: Vec<State>,
}

impl Player {
    fn new(scene: &SceneDoc, number: usize) -> Result<Self, BuildError> {
        let world = World::from_scene(scene)?;
        let pucks = ["red", "blue"].map(|name| world.body(name).unwrap_or(BodyId::from_index(0)));
        Ok(Self { world, pucks, number, uncertain: Vec::new() })
    }

    /// Goes back to the first step that was a guess, makes it with the input that arrived, and guesses the rest: the other player goes on as it did.
    fn step(&mut self, step: usize) {
        let known = step.saturating_sub(LATE);
        if self.uncertain.len() == LATE {
            let _ = self.world.restore(&self.uncertain[0]);
            self.uncertain.clear();
            self.make(known, known);
            (known + 1..step).for_each(|again| self.guess(again, known));
        }
        self.guess(step, known);
    }

    fn guess(&mut self, step: usize, known: usize) {
        self.uncertain.push(self.world.checkpoint());
        self.make(step, known);
    }

    fn make(&mut self, step: usize, known: usize) {
        let mut pushes = [0, 1].map(|player| push(player, step.min(known)));
        pushes[self.number] = push(self.number, step);
        self.world.step_with(&input(&self.pucks, pushes));
    }
}

/// The worlds of both players, and whether they agree on everything that is certain, to the bit.
pub(crate) fn run(n_steps: u32) -> Result<([World; 2], bool), BuildError> {
    let disc = ShapeDoc::cylinder(DVec3::Z * -0.05, DVec3::Z * 0.05, 0.1);
    let puck = |name, x| BodyDoc::new(name).at(DVec3::X * x).shape(disc).touching();
    let ice = ColliderDoc::floor(-0.05).contact(ContactDoc::with_friction(0.01));
    let scene = SceneDoc::new("rink").with(ice).with(puck("red", -0.5)).with(puck("blue", 0.5));
    let mut players = [Player::new(&scene, 0)?, Player::new(&scene, 1)?];
    for step in 0..n_steps as usize {
        players.iter_mut().for_each(|player| player.step(step));
    }
    let agree = players[0].uncertain.first() == players[1].uncertain.first();
    Ok((players.map(|player| player.world), agree))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), BuildError> {
    println!("both players see {}", if run(120)?.1 { "the same bits" } else { "different worlds" });
    Ok(())
}
