//! Numbers survive to the bit; damaged text gives errors, never a panic.

use glam::DVec3;
use proptest::prelude::*;
use sinew_scene::{
    AttachDoc, AttachedDoc, BodyDoc, CharacterKindDoc, ColliderDoc, ColliderShapeDoc, ContactDoc, CurveDoc,
    DisturbanceDoc, ExtensionDoc, FirmnessDoc, FleshDoc, FleshMaterialDoc, FleshMeshDoc, MassDoc, PlasticDoc,
    PoseDoc, RotationDoc, SceneDoc, SceneLimits, SceneSource, Shape, ShapeDoc, TrackDoc, ViscousDoc,
};

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO,
        -10.0..10.0
    ]
}

fn vector() -> impl Strategy<Value = DVec3> {
    [number(), number(), number()].prop_map(DVec3::from)
}

fn positive() -> impl Strategy<Value = f64> {
    1e-300..1e300_f64
}

fn mesh() -> impl Strategy<Value = FleshMeshDoc> {
    prop_oneof![
        ([1e-9..1e9, 1e-9..1e9, 1e-9..1e9_f64], [1..20_u32, 1..20, 1..20])
            .prop_map(|(size, cells)| FleshMeshDoc::Beam { size: DVec3::from(size), cells }),
        (1e-9..1e9_f64).prop_map(|leg| FleshMeshDoc::Tets {
            nodes: vec![DVec3::ZERO, DVec3::X * leg, DVec3::Y * leg, DVec3::Z * leg],
            tets: vec![[0, 1, 2, 3]],
        }),
        ("[a-z ä\"]{1,9}", 1..1000_u32).prop_map(|(name, cells)| FleshMeshDoc::Surface {
            file: name + ".obj",
            cells,
            scale: 0.001
        }),
        [1..20_u32, 1..20, 1..20]
            .prop_map(|cells| FleshMeshDoc::Character { kind: CharacterKindDoc::WormFine { cells } }),
    ]
}

fn contact() -> impl Strategy<Value = ContactDoc> {
    (positive(), positive(), positive(), any::<[u32; 2]>()).prop_map(
        |(friction, stiffness, damping, [groups, touches])| ContactDoc {
            restitution: (friction - 0.5).clamp(0.0, 1.0),
            friction,
            rolling_friction: 0.1 * friction,
            torsional_friction: 0.0,
            firmness: FirmnessDoc::Given { stiffness, damping },
            groups,
            touches,
        },
    )
}

prop_compose! {
    fn flesh()(
        mesh in mesh(),
        velocity in vector(),
        young in positive(),
        poisson in -0.999..0.499_f64,
        low in 0.001..0.999_f64,
        high in 1.001..1e9_f64,
        mass_floor in 0.0..=1.0_f64,
        yield_stress in 0.0..1e9_f64,
        ratio in 0.0..9.0_f64,
        seed in any::<u64>(),
        amount in positive(),
        corner in vector(),
        contact in proptest::option::of(contact()),
    ) -> FleshDoc {
        let extension = ExtensionDoc::Conservative;
        FleshDoc {
            name: "flesh".to_owned(),
            mesh,
            velocity,
            material: FleshMaterialDoc::StVenantKirchhoff {
                young,
                poisson,
                band: [low, high],
                extension,
                plastic: (yield_stress >= 1.0).then_some(PlasticDoc { yield_stress, hardening: young, largest_stretch: high }),
                viscous: (ratio >= 1.0).then_some(ViscousDoc { ratio, time_s: amount }),
            },
            mass_floor,
            attach: vec![AttachDoc { body: None, nodes: AttachedDoc::Inside { low: corner, high: corner } }],
            contact,
            disturbed: DisturbanceDoc::Random { amount, seed },
            ..FleshDoc::default()
        }
    }
}

fn collider() -> impl Strategy<Value = ColliderDoc> {
    let row = || proptest::collection::vec(number(), 3);
    let shape = prop_oneof![
        (vector(), positive()).prop_map(|(point, z)| ColliderShapeDoc::Plane { point, normal: DVec3::Z * z }),
        (positive(), vector()).prop_map(|(radius, position)| {
            let at = PoseDoc { position, ..PoseDoc::default() };
            ColliderShapeDoc::Solid(ShapeDoc { solid: Shape::Sphere { radius }, at })
        }),
        ([positive(), positive()], [row(), row()]).prop_map(|(size, rows)| ColliderShapeDoc::HeightField {
            at: PoseDoc::default(),
            size,
            heights: rows.to_vec(),
        }),
    ];
    (shape, contact()).prop_map(|(shape, contact)| ColliderDoc {
        name: String::new(),
        body: "world".to_owned(),
        shape,
        contact,
        sensor: false,
    })
}

prop_compose! {
    fn document()(
        gravity in vector(),
        position in vector(),
        turn in vector(),
        radius in 1e-300..1e300_f64,
        mass in 1e-300..1e300_f64,
        points in proptest::collection::vec(vector(), 1..5),
        color in proptest::option::of([0.0..1.0, 0.0..1.0, 0.0..1.0_f64]),
        name in "[ -~äπ]{0,12}",
        description in "[ -~äπ\n]{0,12}",
        flesh in flesh(),
        collider in collider(),
    ) -> SceneDoc {
        let pose = PoseDoc { position, rotation: RotationDoc::Vector(turn) };
        let body = BodyDoc {
            name: format!("body {name}"),
            pose,
            shapes: vec![ShapeDoc { solid: Shape::Sphere { radius }, at: pose }],
            mass: MassDoc::Total(mass),
            color: color.map(DVec3::from),
            ..BodyDoc::default()
        };
        let samples = points.into_iter().enumerate().map(|(i, point)| (i as f64, point)).collect();
        let track = TrackDoc { name: "t".to_owned(), curve: CurveDoc::Points(samples), ..TrackDoc::default() };
        SceneDoc { name, description, gravity, bodies: vec![body], tracks: vec![track], flesh: vec![flesh], colliders: vec![collider], ..SceneDoc::default() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn documents_read_back_to_the_bit(scene in document()) {
        let text = scene.to_ron();
        let again = SceneDoc::from_ron(&text, "again").unwrap();
        prop_assert_eq!(&again, &scene);
        // Equality cannot tell −0 from 0; the text can.
        prop_assert_eq!(again.to_ron(), text);
    }

    #[test]
    fn damaged_text_never_panics(at in 0.0..1.0_f64, length in 0..6_usize, junk in r#"[()\[\]{}",:'/*#rb\\0-9a-zé\n ]{0,4}"#) {
        let text = include_str!("../../../../fixtures/mechanisms/hand.ron");
        let place = |share: f64| {
            let byte = (share * text.len() as f64) as usize;
            (0..=byte).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
        };
        let from = place(at);
        let to = (from + length..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
        let mut source = SceneSource::new(format!("{}{junk}{}", &text[..from], &text[to..]), "damaged");
        if let Err(errors) = source.parse() {
            prop_assert!(errors.as_slice().iter().all(|e| e.line >= 1 && e.column >= 1));
        }
        let _ = source.set("joints[3].spring.stiffness", &junk);
    }
}

#[test]
fn text_may_begin_with_a_byte_order_mark() {
    let scene = SceneDoc::from_ron("\u{feff}(format: 1, name: \"marked\")", "marked.ron");
    assert_eq!(scene.unwrap_or_else(|errors| panic!("{errors}")).name, "marked");
    let errors = SceneDoc::from_ron("\u{feff}(format: 1, nam: 2)", "marked.ron").expect_err("no such field");
    assert!(errors.to_string().starts_with("marked.ron:1:13:"), "{errors}");
}

#[test]
fn many_errors_are_counted_and_only_the_first_look_for_similar_names() {
    let bodies: Vec<String> =
        (0..3000).map(|i| format!("(name: \"b{i}\", shapes: [Sphere(radius: 0.1)])")).collect();
    let joints: Vec<String> =
        (0..2000).map(|i| format!("(name: \"j{i}\", kind: Ball, child: \"c{i}\")")).collect();
    let text = format!("(format: 1, bodies: [{}], joints: [{}])", bodies.join(", "), joints.join(", "));
    let errors = SceneDoc::from_ron(&text, "many.ron").expect_err("no such bodies");
    assert_eq!(errors.as_slice().len(), 2000);
    let said = errors.to_string();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((lines.len(), lines[50]), (51, "… and 1950 more"));
    let hinted =
        errors.as_slice().iter().filter(|error| error.issue.hint.starts_with("did you mean `b")).count();
    assert_eq!(hinted, 50);
}

#[test]
fn limits_of_a_scene_can_be_lowered_and_raised() {
    let chain = |n: u32| {
        format!("Chain(name: \"c{n}\", n: {n}, link: (shapes: [Capsule(radius: 0.01, length: 0.1)]))")
    };
    let parse = |generators: &str, change: fn(&mut SceneLimits)| {
        let mut limits = SceneLimits::default();
        change(&mut limits);
        let text = format!("(format: 1, generators: [{generators}])");
        SceneSource::new(text, "a.ron").with_limits(limits).parse().map_err(|errors| errors.to_string())
    };
    let both = format!("{}, {}", chain(6), chain(5));
    assert!(parse(&both, |limits| limits.bodies = 11).is_ok());
    let said = parse(&both, |limits| limits.bodies = 10).expect_err("eleven bodies");
    assert!(
        said.starts_with("a.ron:1:")
            && said.contains("generators[1].n: this generator makes 5 links, too many"),
        "{said}"
    );
    assert!(parse(&chain(1_000_001), |_| ()).is_err());
    assert!(parse(&chain(1_000_001), |limits| limits.bodies = 2_000_000).is_ok());
    let sweep = "], sweep: [(path: \"dt\", values: [0.1, 0.2, 0.3])], bodies: [";
    assert!(parse(sweep, |limits| limits.members = 3).is_ok());
    assert!(parse(sweep, |limits| limits.members = 2).expect_err("three scenes").contains("3 scenes"));
    let beam = "], flesh: [(name: \"f\", mesh: Beam(size: (1, 1, 1), cells: (10, 10, 10)))], bodies: [";
    assert!(parse(beam, |limits| limits.tetrahedra = 6000).is_ok());
    assert!(
        parse(beam, |limits| limits.tetrahedra = 5999).expect_err("6,000").contains("make 6000 tetrahedra")
    );
}
