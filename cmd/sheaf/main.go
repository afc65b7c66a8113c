// Command sheaf searches folders of documents.
package main

func main() {}
