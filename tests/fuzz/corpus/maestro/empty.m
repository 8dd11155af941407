Network Alone {
}
