; What stands for the runtime where there is none: there is one piece of memory, which the caller
; gave, so asking for more fails, and every mark lies in it.

define internal ptr @jut_alloc_temp(ptr %ws, i64 %bytes) #4 {
  ret ptr null
}

define internal ptr @jut_alloc_tape(ptr %ws, i64 %bytes) #4 {
  ret ptr null
}

define internal void @jut_release(ptr %ws, i64 %mark) #5 {
  ret void
}

define internal void @jut_release_tape(ptr %ws, i64 %mark) #5 {
  ret void
}

; The two arenas share the memory, from the first multiple of the alignment on.
define internal void @jut.divide(ptr %head, ptr %memory, i64 %bytes, i64 %wanted) #0 {
  %m = ptrtoint ptr %memory to i64
  %up = add i64 %m, {MOST}
  %begin = and i64 %up, -{ALIGN}
  %skipped = sub i64 %begin, %m
  %enough = icmp uge i64 %bytes, %skipped
  %less = sub i64 %bytes, %skipped
  %some = select i1 %enough, i64 %less, i64 0
  %null = icmp eq ptr %memory, null
  %all = select i1 %null, i64 0, i64 %some
  %rest = and i64 %all, -{ALIGN}
  %tape = call i64 @llvm.umin.i64(i64 %wanted, i64 %rest)
  %middle = add i64 %begin, %tape
  %end = add i64 %begin, %rest
  %p0 = getelementptr inbounds i64, ptr %head, i64 {TAPE_BASE}
  store i64 %begin, ptr %p0, align 8
  %p1 = getelementptr inbounds i64, ptr %head, i64 {TAPE_TOP}
  store i64 %begin, ptr %p1, align 8
  %p2 = getelementptr inbounds i64, ptr %head, i64 {TAPE_END}
  store i64 %middle, ptr %p2, align 8
  %p3 = getelementptr inbounds i64, ptr %head, i64 {TEMP_BASE}
  store i64 %middle, ptr %p3, align 8
  %p4 = getelementptr inbounds i64, ptr %head, i64 {TEMP_TOP}
  store i64 %middle, ptr %p4, align 8
  %p5 = getelementptr inbounds i64, ptr %head, i64 {TEMP_END}
  store i64 %end, ptr %p5, align 8
  ret void
}

; Repeated squaring from the lowest bit up, as the runtime's.
define internal double @jut_powi(double %x, i64 %n) #1 {
  %magnitude = call i64 @llvm.abs.i64(i64 %n, i1 false)
  %none = icmp eq i64 %magnitude, 0
  br i1 %none, label %done, label %body
body:
  %base = phi double [ %x, %0 ], [ %squared, %body ]
  %k = phi i64 [ %magnitude, %0 ], [ %rest, %body ]
  %product = phi double [ 1.0, %0 ], [ %next, %body ]
  %bit = and i64 %k, 1
  %low = icmp ne i64 %bit, 0
  %longer = fmul double %product, %base
  %next = select i1 %low, double %longer, double %product
  %squared = fmul double %base, %base
  %rest = lshr i64 %k, 1
  %more = icmp ne i64 %rest, 0
  br i1 %more, label %body, label %done
done:
  %power = phi double [ 1.0, %0 ], [ %next, %body ]
  %reciprocal = fdiv double 1.0, %power
  %negative = icmp slt i64 %n, 0
  %y = select i1 %negative, double %reciprocal, double %power
  ret double %y
}

; exp(-|x|), which never overflows.
define internal double @jut.decay(double %x) #1 {
  %size = call double @llvm.fabs.f64(double %x)
  %negative = fneg double %size
  %e = call double @jut_exp(double %negative)
  ret double %e
}

define internal double @jut_sigmoid(double %x) #1 {
  %e = call double @jut.decay(double %x)
  %upper = fcmp oge double %x, 0.0
  %above = select i1 %upper, double 1.0, double %e
  %below = fadd double 1.0, %e
  %y = fdiv double %above, %below
  ret double %y
}

; The upper half of a number's digits, as in the runtime.
define internal double @jut.upper.half(double %x) #1 {
  %bits = bitcast double %x to i64
  %upper = and i64 %bits, -134217728
  %y = bitcast i64 %upper to double
  ret double %y
}

; e / (1 + e)^2 with e = exp(-|x|), as in the runtime.
define internal double @jut_sigmoid_slope(double %x) #1 {
  %e = call double @jut.decay(double %x)
  %sum = fadd double 1.0, %e
  %high = call double @jut.upper.half(double %sum)
  %less = fsub double 1.0, %high
  %low = fadd double %less, %e
  %square = fmul double %high, %high
  %twice = fadd double %high, %high
  %more = fadd double %twice, %low
  %rest = fmul double %low, %more
  %below = fadd double %square, %rest
  %y = fdiv double %e, %below
  ret double %y
}

; exp(-x^2), as in the runtime; beyond 30 that is zero.
define internal double @jut_gaussian(double %a) #1 {
  %b = call double @llvm.maximum.f64(double %a, double -30.0)
  %x = call double @llvm.minimum.f64(double %b, double 30.0)
  %high = call double @jut.upper.half(double %x)
  %square = fmul double %high, %high
  %exponent = fneg double %square
  %e = call double @jut_exp(double %exponent)
  %low = fsub double %x, %high
  %sum = fadd double %x, %high
  %t = fmul double %low, %sum
  %s0 = fmul double %t, 0x3FC5555555555555
  %s1 = fsub double 0.5, %s0
  %s2 = fmul double %t, %s1
  %s3 = fsub double 1.0, %s2
  %part = fmul double %e, %t
  %rest = fmul double %part, %s3
  %y = fsub double %e, %rest
  ret double %y
}

; max(x, y) + log1p(exp(-|d|)), where d is the difference of x and y.
define internal double @jut.soft.maximum(double %x, double %y, double %d) #1 {
  %e = call double @jut.decay(double %d)
  %excess = call double @jut_log1p(double %e)
  %larger = call double @llvm.maximum.f64(double %x, double %y)
  %z = fadd double %larger, %excess
  ret double %z
}

define internal double @jut_softplus(double %x) #1 {
  %y = call double @jut.soft.maximum(double %x, double 0.0, double %x)
  ret double %y
}

define internal double @jut_logaddexp(double %x, double %y) #1 {
  %d = fsub double %x, %y
  %usual = call double @jut.soft.maximum(double %x, double %y, double %d)
  ; Also where both are the same infinity.
  %doubled = fadd double %x, 0x3FE62E42FEFA39EF
  %same = fcmp oeq double %x, %y
  %z = select i1 %same, double %doubled, double %usual
  ret double %z
}
