//! FNV-1a, 64 bits, over little-endian bytes, and the identity of models by it. Cost: one pass.

/// The hash so far.
pub(crate) struct Fnv(pub(crate) u64);

impl Fnv {
    /// The offset basis.
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub(crate) fn number(&mut self, value: f64) {
        self.bytes(&value.to_bits().to_le_bytes());
    }

    pub(crate) fn count(&mut self, n: usize) {
        self.bytes(&(n as u64).to_le_bytes());
    }
}

/// A number that tells models apart, never 0: names, kinds and masses of bodies, names, rows and bodies of joints, and the nodes of each flesh.
pub(crate) fn identity(mechanism: &sinew_mechanism::Model, n_nodes: impl Iterator<Item = usize>) -> u64 {
    let mut hash = Fnv::new();
    hash.count(mechanism.n_bodies());
    for body in mechanism.bodies() {
        hash.bytes(mechanism.body_name(body).as_bytes());
        hash.count(mechanism.body_kind(body) as usize);
        hash.number(mechanism.body_mass(body));
    }
    for joint in mechanism.joints() {
        hash.bytes(mechanism.joint_name(joint).as_bytes());
        hash.count(mechanism.joint_kind(joint).n_rows());
        let (child, parent) = mechanism.joint_bodies(joint);
        for body in [child, parent] {
            hash.count(body.map_or(0, |body| body.index() + 1));
        }
    }
    n_nodes.for_each(|n| hash.count(n));
    hash.0.max(1)
}
