use crate::common::*;
#[test]
fn smoke() {
    for name in mechanisms() {
        let t = std::time::Instant::now();
        let out = sinew_sim::run_and_check(&scene(&name));
        println!("{name} {:?}", t.elapsed());
        match out {
            Ok(o) => {
                for r in o.runs {
                    println!("  {:?} {} {:x} {:?}", r.set, r.n_steps, r.digest, r.non_finite);
                    for e in r.expectations {
                        println!("    {} {} {} {}", e.met, e.what, e.measured, e.limit);
                    }
                }
            }
            Err(e) => println!("ERR {e}"),
        }
    }
}
