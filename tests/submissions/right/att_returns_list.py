import torch, math
import torch.nn as nn

class mult_head_att(nn.Module):
    # author: sorry for my english. dmodel = dimention of the word, nb = how much heads
    def __init__(self, nb, dmodel):
        super().__init__()
        if dmodel % nb != 0: raise Exception("dmodel have to be multiple of nb")
        self.nb = nb; self.dmodel = dmodel; self.dk = dmodel//nb
        self.lin_k = nn.Linear(dmodel, dmodel)
        self.lin_q = nn.Linear(dmodel, dmodel)
        self.lin_v = nn.Linear(dmodel, dmodel)
        self.lin_final = nn.Linear(dmodel, dmodel)
    def forward(self, k, q, v, mask = None):
        # mask 1 = forbiden
        outs = []; atts = []
        K = self.lin_k(k); Q = self.lin_q(q); V = self.lin_v(v)
        for i in range(self.nb):
            a, b = i*self.dk, (i+1)*self.dk
            s = torch.matmul(Q[:,:,a:b], K[:,:,a:b].permute(0,2,1))/math.sqrt(self.dk)
            if mask is not None:
                s = s.masked_fill(mask == 1, float("-inf"))
            s = nn.functional.softmax(s, dim = 2)
            atts.append(s)
            outs.append(torch.matmul(s, V[:,:,a:b]))
        return [self.lin_final(torch.cat(outs, 2)), atts]
