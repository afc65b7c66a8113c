package builtin

// File is the table for other languages.
var File = file
