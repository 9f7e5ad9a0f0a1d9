//! A small SVG writer: lines on logarithmic axes, with a legend.

use std::fmt::Write;

/// One line of a figure.
#[derive(Clone)]
pub struct Line {
    /// What the legend says; nothing for a line that goes with the one before.
    pub label: String,
    /// Points; those that are not positive are left out.
    pub points: Vec<(f64, f64)>,
    /// Which colour; lines that belong together share it.
    pub colour: usize,
    /// Dashed lines are bounds.
    pub dashed: bool,
}

impl Line {
    /// The part of it that is not below a value.
    pub fn above(mut self, least: f64) -> Line {
        self.points.retain(|(_, y)| *y >= least);
        self
    }
}

const COLOURS: [&str; 7] = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#555555", "#16a0a0"];
const WIDTH: f64 = 680.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 460.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 350.0;

/// The figure as SVG text.
pub fn figure(title: &str, x_label: &str, y_label: &str, lines: &[Line]) -> String {
    let shown = |line: &Line| -> Vec<(f64, f64)> {
        let positive = line.points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0 && y.is_finite());
        positive.map(|(x, y)| (x.log10(), y.log10())).collect()
    };
    let all: Vec<(f64, f64)> = lines.iter().flat_map(shown).collect();
    let (x0, x1) = range(all.iter().map(|p| p.0));
    let (y0, y1) = range(all.iter().map(|p| p.1));
    let px = |x: f64| LEFT + (x - x0) / (x1 - x0) * (RIGHT - LEFT);
    let py = |y: f64| BOTTOM - (y - y0) / (y1 - y0) * (BOTTOM - TOP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    text(&mut svg, (LEFT + RIGHT) / 2.0, 20.0, "middle", title);
    text(&mut svg, (LEFT + RIGHT) / 2.0, HEIGHT - 12.0, "middle", x_label);
    let y_middle = (TOP + BOTTOM) / 2.0;
    let _ = writeln!(
        svg,
        "<text transform=\"translate(16 {y_middle}) rotate(-90)\" text-anchor=\"middle\">{y_label}</text>"
    );
    for (axis, low, high) in [('x', x0, x1), ('y', y0, y1)] {
        let every = (((high - low) / 8.0).ceil() as i32).max(1);
        for power in (low.ceil() as i32..=high.floor() as i32).filter(|p| p % every == 0) {
            tick(
                &mut svg,
                axis,
                if axis == 'x' { px(f64::from(power)) } else { py(f64::from(power)) },
                power,
            );
        }
    }
    let _ = writeln!(
        svg,
        "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#333\" stroke-width=\"1\"/>"
    );
    let mut named = 0;
    for line in lines {
        let path: Vec<String> =
            shown(line).iter().map(|(x, y)| format!("{:.1},{:.1}", px(*x), py(*y))).collect();
        let (colour, dash) = (
            COLOURS[line.colour % COLOURS.len()],
            if line.dashed { " stroke-dasharray=\"5 4\"" } else { "" },
        );
        let style = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"{dash}");
        let _ = writeln!(svg, "<polyline points=\"{}\" {style}/>", path.join(" "));
        if !line.label.is_empty() {
            let y = TOP + 8.0 + 18.0 * f64::from(named);
            let _ = writeln!(svg, "<path d=\"M{} {y}h22\" {style}/>", RIGHT + 12.0);
            text(&mut svg, RIGHT + 38.0, y + 4.0, "start", &line.label);
            named += 1;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    if low < high { (low, high) } else { (low - 1.0, low + 1.0) }
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, content: &str) {
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{content}</text>");
}

fn tick(svg: &mut String, axis: char, at: f64, power: i32) {
    let label = format!("10{}", power.to_string().chars().map(superscript).collect::<String>());
    if axis == 'x' {
        let _ = writeln!(svg, "<path d=\"M{at:.1} {TOP}V{BOTTOM}\" stroke=\"#ddd\"/>");
        text(svg, at, BOTTOM + 18.0, "middle", &label);
    } else {
        let _ = writeln!(svg, "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#ddd\"/>");
        text(svg, LEFT - 6.0, at + 4.0, "end", &label);
    }
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4'..='9' => char::from_u32('⁴' as u32 + c as u32 - '4' as u32).unwrap_or(c),
        _ => '⁰',
    }
}
