Dataflow { SpatialMap(1,1) Y'; TemporalMap(Sz(R),Sz(R)) R; Cluster(Sz(R),P); SpatialMap(1,1) K; }
