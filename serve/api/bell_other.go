//go:build !unix

package api

// SpareProcessors are those that Go's scheduler is to be told of beside the machine's
// own, so that one is left while all searches that may work at once do: it reads
// requests when they come. Without it nobody does while others wait for their turn, and
// those who came meanwhile enter together, in any order.
const SpareProcessors = 1

// pollsPipes says whether Go's scheduler looks at pipes as it does at the network.
const pollsPipes = false
