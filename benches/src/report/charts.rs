//! The charts, as SVG text.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A row of a chart of dots: its label and for each series its number, if it has one.
pub struct DotRow {
    /// What it is.
    pub label: String,
    /// One number for each series.
    pub values: Vec<Option<f64>>,
}

/// A chart of dots on a logarithmic scale, one line for each row.
pub struct Dots<'a> {
    /// What the numbers are.
    pub axis: &'a str,
    /// The series' names and colours.
    pub series: &'a [(&'a str, RGBColor)],
    /// The rows.
    pub rows: &'a [DotRow],
    /// Vertical lines with their names.
    pub goals: &'a [(f64, &'a str)],
    /// How numbers on the axis are written.
    pub show: fn(f64) -> String,
}

/// Colours that are told apart, also by people who see few.
pub const COLOURS: [RGBColor; 5] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 86, 86),
];
const GOAL: RGBColor = RGBColor(213, 94, 0);
const GRID: RGBColor = RGBColor(225, 225, 225);
const WIDTH: u32 = 960;
const ROW: u32 = 22;
const FONT: &str = "sans-serif";

impl Dots<'_> {
    /// The chart.
    ///
    /// # Errors
    /// The drawing fails.
    pub fn svg(&self) -> Result<String> {
        let height = 96 + ROW * self.rows.len() as u32;
        let values = self.rows.iter().flat_map(|r| r.values.iter().flatten().copied());
        let (low, high) = range(values.chain(self.goals.iter().map(|g| g.0)));
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
            let bottom = -(self.rows.len() as f64) + 0.5;
            let mut chart = ChartBuilder::on(&area)
                .margin_top(44)
                .margin_right(24)
                .x_label_area_size(40)
                .y_label_area_size(190)
                .build_cartesian_2d((low..high).log_scale(), bottom..0.5)?;
            let show = |x: &f64| (self.show)(*x);
            chart
                .configure_mesh()
                .disable_y_mesh()
                .disable_y_axis()
                .y_labels(0)
                .light_line_style(WHITE)
                .bold_line_style(GRID)
                .x_label_formatter(&show)
                .x_desc(self.axis)
                .label_style((FONT, 13))
                .draw()?;
            let label = TextStyle::from((FONT, 13)).pos(Pos::new(HPos::Right, VPos::Center));
            for (k, row) in self.rows.iter().enumerate() {
                let y = -(k as f64);
                let line = PathElement::new([(low, y), (high, y)], GRID);
                chart.draw_series([line])?;
                let at = (low, y);
                let text =
                    EmptyElement::at(at) + Text::new(row.label.clone(), (-8, 0), label.clone());
                chart.draw_series([text])?;
            }
            for (x, name) in self.goals {
                let line = PathElement::new([(*x, bottom), (*x, 0.5)], GOAL.stroke_width(2));
                chart.draw_series([line])?;
                let above = TextStyle::from((FONT, 12))
                    .color(&GOAL)
                    .pos(Pos::new(HPos::Center, VPos::Bottom));
                let text =
                    EmptyElement::at((*x, 0.5)) + Text::new(name.to_string(), (0, -3), above);
                chart.draw_series([text])?;
            }
            for (k, row) in self.rows.iter().enumerate() {
                for ((_, colour), value) in self.series.iter().zip(&row.values) {
                    if let Some(value) = value {
                        chart.draw_series([Circle::new(
                            (*value, -(k as f64)),
                            5,
                            colour.filled(),
                        )])?;
                    }
                }
            }
            legend(&area, self.series)?;
            area.present()?;
        }
        Ok(svg)
    }
}

/// A chart of one curve on logarithmic scales, with a line of proportion through its last point.
///
/// # Errors
/// The drawing fails.
pub fn curve(
    points: &[(f64, f64)],
    axes: (&str, &str),
    name: &str,
    show: fn(f64) -> String,
) -> Result<String> {
    let (left, right) = range(points.iter().map(|p| p.0));
    let (low, high) = range(points.iter().map(|p| p.1));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, 380)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin_top(44)
            .margin_right(24)
            .x_label_area_size(44)
            .y_label_area_size(84)
            .build_cartesian_2d((left..right).log_scale(), (low..high).log_scale())?;
        let show = |x: &f64| show(*x);
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .x_desc(axes.0)
            .y_desc(axes.1)
            .x_label_formatter(&|x: &f64| format!("{x}"))
            .y_label_formatter(&show)
            .label_style((FONT, 13))
            .draw()?;
        if let Some((x, y)) = points.last() {
            // Only the part that lies in the chart.
            let from = left.max(low * x / y);
            let line = [(from, from * y / x), (*x, *y)];
            chart.draw_series([PathElement::new(line, GOAL.stroke_width(2))])?;
        }
        let path = PathElement::new(points.to_vec(), COLOURS[0].stroke_width(2));
        chart.draw_series([path])?;
        chart.draw_series(points.iter().map(|p| Circle::new(*p, 5, COLOURS[0].filled())))?;
        legend(&area, &[(name, COLOURS[0]), ("in proportion to the length", GOAL)])?;
        area.present()?;
    }
    Ok(svg)
}

/// Names and colours in the upper left corner.
fn legend(area: &DrawingArea<SVGBackend<'_>, Shift>, series: &[(&str, RGBColor)]) -> Result<()> {
    let style = TextStyle::from((FONT, 13)).pos(Pos::new(HPos::Left, VPos::Center));
    let mut x = 20;
    for (name, colour) in series {
        area.draw(&Circle::new((x, 16), 5, colour.filled()))?;
        area.draw(&Text::new(name.to_string(), (x + 10, 16), style.clone()))?;
        x += 30 + 8 * i32::try_from(name.len())?;
    }
    Ok(())
}

/// Whole decades round some positive numbers.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|x| x.is_finite() && *x > 0.0)
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    if high == 0.0 {
        return (0.1, 10.0);
    }
    (10f64.powf((low * 0.9).log10().floor()), 10f64.powf((high * 1.1).log10().ceil()))
}
