workload = {
    -1: {'equation': 'input', 'loop_dim_size': {'B': 1, 'K': 3, 'OY': 224, 'OX': 224}},
    0: {  # first
        'operator_type': 'Conv',
        'equation': 'O[b][g][k][oy][ox]+=W[g][k][c][fy][fx]*I[b][g][c][iy][ix]',
        'dimension_relations': ['ix=1*ox+1*fx', 'iy=1*oy+1*fy'],
        'loop_dim_size': {'B': 1, 'G': 32, 'K': 1, 'C': 1, 'OY': 56, 'OX': 56, 'FY': 3, 'FX': 3},
        'operand_precision': {'O': 16, 'O_final': 8, 'W': 8, 'I': 8},
        'operand_source': {'W': [], 'I': [-1]},
        'constant_operands': ['W'],
        'padding': {'IY': (1, 1), 'IX': (1, 1)}
    }
    ,
    1: {
        'equation': 'O[b][k][oy][ox]+=W[k][c]*I[b][c][oy][ox]',
        'loop_dim_size': {'B': 1, 'K': 64, 'C': 32, 'OY': 56, 'OX': 56},
        'operand_precision': {'O': 16, 'O_final': 8, 'W': 8, 'I': 8},
        'spatial_mapping': {'D1': ('K', 32), 'D2': ('C', 2)},
    },
}
