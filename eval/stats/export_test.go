package stats

// BetaInc is betaInc, for a comparison with another implementation.
var BetaInc = betaInc
