package stats

// BetaInc is betaInc, for its comparison with another implementation.
var BetaInc = betaInc
