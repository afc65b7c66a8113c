//go:build unix

package api

// SpareProcessors are those that Go's scheduler is to be told of beside the machine's
// own: none, since a [bell] lets it see requests when they come.
const SpareProcessors = 0

// pollsPipes says whether Go's scheduler looks at pipes as it does at the network.
const pollsPipes = true
