//! Vectors with one byte for each dimension, stored at unit length.

/// The largest magnitude of a component.
const SCALE: f32 = 127.0;

/// A vector of unit length, each component scaled to -127..=127.
pub fn quantize(vector: &[f32]) -> Vec<i8> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    // A vector of zeros or with infinite components is similar to nothing.
    let factor = if length.is_normal() {
        SCALE / length
    } else {
        0.0
    };
    let components = vector.iter().map(|value| (value * factor).round() as i8);
    components.collect()
}

/// The cosine of the angle between two quantized vectors of the same length, about -1..=1.
pub fn cosine(a: &[i8], b: &[i8]) -> f32 {
    // Products fit into 16 bits and their sum into 32, which lets the compiler vectorize the loop.
    let sum: i32 = a
        .iter()
        .zip(b)
        .map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b)))
        .sum();
    sum as f32 / (SCALE * SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_of_quantized_vectors_is_close_to_the_exact_one() {
        let a: Vec<f32> = (0..384)
            .map(|i| ((i * 37 % 101) as f32 - 50.0) / 9.0)
            .collect();
        let b: Vec<f32> = (0..384)
            .map(|i| ((i * 53 % 97) as f32 - 40.0) / 3.0)
            .collect();
        let exact = {
            let dot: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            dot / length(&a) / length(&b)
        };
        let found = cosine(&quantize(&a), &quantize(&b));
        assert!((found - exact).abs() < 0.01, "{found} instead of {exact}");
        assert!((cosine(&quantize(&a), &quantize(&a)) - 1.0).abs() < 0.01);
    }

    #[test]
    fn unusable_vectors_are_similar_to_nothing() {
        for vector in [[0.0, 0.0], [f32::INFINITY, 1.0], [f32::NAN, 1.0]] {
            assert_eq!(quantize(&vector), [0, 0], "{vector:?}");
        }
    }
}
