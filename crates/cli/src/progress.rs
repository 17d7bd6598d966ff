//! A progress bar on a terminal, nothing in a pipe.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::print::visible;

/// A progress bar; `counted` is the noun of the displayed count, if there is one.
pub(crate) fn bar(length: u64, name: &str, counted: Option<&str>) -> ProgressBar {
    let count = counted.map(|noun| format!("  {{pos}}/{{len}} {noun}")).unwrap_or_default();
    let style =
        ProgressStyle::with_template(&format!("{{msg}} {{bar:32}} {{percent:>3}} %{count}  {{eta}} left"));
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(12));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(visible(name));
    bar
}
