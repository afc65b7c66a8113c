package collectiontest

import (
	"sheaf/eval/calibrate"
	"sheaf/profile"
	"sheaf/search"
)

// Calibrated returns calibrations for all profiles. The confidence of a result is 1/(1 + e^-bias),
// at most 0.25 for an unanswerable query.
func Calibrated(bias float64, answerable bool) func(*profile.Profile) *search.Calibration {
	none := make([]float64, len(new(search.Evidence).Features()))
	c := &search.Calibration{
		Right:    calibrate.Logistic{Bias: bias, Weights: none},
		Answered: calibrate.Logistic{Bias: -20, Weights: none},
		Least:    0.5,
	}
	if answerable {
		c.Answered.Bias = 20
	}
	return func(*profile.Profile) *search.Calibration { return c }
}
