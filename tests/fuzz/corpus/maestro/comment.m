/* no end
Network