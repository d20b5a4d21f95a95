; What every program of jut brings along: failing, the arenas, fills.
; {TEMP_TOP} and its like are words of the workspace, {MOST} is the alignment less one.

define internal i32 @jut.fail(ptr noalias %ws, i64 %site, i64 %kind, i64 %a, i64 %b, i64 %c) #2 {
  %p0 = getelementptr inbounds i64, ptr %ws, i64 {FAILURE_SITE}
  store i64 %site, ptr %p0, align 8
  %p1 = getelementptr inbounds i64, ptr %ws, i64 {FAILURE_KIND}
  store i64 %kind, ptr %p1, align 8
  %p2 = getelementptr inbounds i64, ptr %ws, i64 {FAILURE_OPERANDS}
  store i64 %a, ptr %p2, align 8
  %p3 = getelementptr inbounds i64, ptr %p2, i64 1
  store i64 %b, ptr %p3, align 8
  %p4 = getelementptr inbounds i64, ptr %p2, i64 2
  store i64 %c, ptr %p4, align 8
  %status = trunc i64 %kind to i32
  ret i32 %status
}

define internal noalias align {ALIGN} ptr @jut.alloc.temp(ptr noalias %ws, i64 %bytes) #4 {
  %ptop = getelementptr inbounds i64, ptr %ws, i64 {TEMP_TOP}
  %pend = getelementptr inbounds i64, ptr %ws, i64 {TEMP_END}
  %top = load ptr, ptr %ptop, align 8
  %end = load ptr, ptr %pend, align 8
  %t = ptrtoint ptr %top to i64
  %e = ptrtoint ptr %end to i64
  %room = sub i64 %e, %t
  %fits = icmp ule i64 %bytes, %room
  br i1 %fits, label %fast, label %slow, !prof !0
fast:
  ; The room is a multiple of the alignment: what fits still fits when it is rounded up.
  %up = add i64 %bytes, {MOST}
  %rounded = and i64 %up, -{ALIGN}
  %new = getelementptr i8, ptr %top, i64 %rounded
  store ptr %new, ptr %ptop, align 8
  ret ptr %top
slow:
  %place = call ptr @jut_alloc_temp(ptr %ws, i64 %bytes)
  ret ptr %place
}

define internal noalias align {ALIGN} ptr @jut.alloc.tape(ptr noalias %ws, i64 %bytes) #4 {
  %ptop = getelementptr inbounds i64, ptr %ws, i64 {TAPE_TOP}
  %pend = getelementptr inbounds i64, ptr %ws, i64 {TAPE_END}
  %top = load ptr, ptr %ptop, align 8
  %end = load ptr, ptr %pend, align 8
  %t = ptrtoint ptr %top to i64
  %e = ptrtoint ptr %end to i64
  %room = sub i64 %e, %t
  %fits = icmp ule i64 %bytes, %room
  br i1 %fits, label %fast, label %slow, !prof !0
fast:
  %up = add i64 %bytes, {MOST}
  %rounded = and i64 %up, -{ALIGN}
  %new = getelementptr i8, ptr %top, i64 %rounded
  store ptr %new, ptr %ptop, align 8
  ret ptr %top
slow:
  %place = call ptr @jut_alloc_tape(ptr %ws, i64 %bytes)
  ret ptr %place
}

define internal void @jut.release.temp(ptr %ws, i64 %mark) #5 {
  %pbase = getelementptr inbounds i64, ptr %ws, i64 {TEMP_BASE}
  %ptop = getelementptr inbounds i64, ptr %ws, i64 {TEMP_TOP}
  %pend = getelementptr inbounds i64, ptr %ws, i64 {TEMP_END}
  %base = load i64, ptr %pbase, align 8
  %end = load i64, ptr %pend, align 8
  %offset = sub i64 %mark, %base
  %size = sub i64 %end, %base
  %inside = icmp ule i64 %offset, %size
  br i1 %inside, label %fast, label %slow, !prof !0
fast:
  store i64 %mark, ptr %ptop, align 8
  call void asm sideeffect "", "~{memory}"()
  ret void
slow:
  call void @jut_release(ptr %ws, i64 %mark)
  ret void
}

define internal void @jut.release.tape(ptr %ws, i64 %mark) #5 {
  %pbase = getelementptr inbounds i64, ptr %ws, i64 {TAPE_BASE}
  %ptop = getelementptr inbounds i64, ptr %ws, i64 {TAPE_TOP}
  %pend = getelementptr inbounds i64, ptr %ws, i64 {TAPE_END}
  %base = load i64, ptr %pbase, align 8
  %end = load i64, ptr %pend, align 8
  %offset = sub i64 %mark, %base
  %size = sub i64 %end, %base
  %inside = icmp ule i64 %offset, %size
  br i1 %inside, label %fast, label %slow, !prof !0
fast:
  store i64 %mark, ptr %ptop, align 8
  call void asm sideeffect "", "~{memory}"()
  ret void
slow:
  call void @jut_release_tape(ptr %ws, i64 %mark)
  ret void
}

define internal void @jut.fill.f64(ptr %p, i64 %n, double %x) #0 {
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %body, label %done
body:
  %i = phi i64 [ 0, %0 ], [ %next, %body ]
  %at = getelementptr inbounds nuw double, ptr %p, i64 %i
  store double %x, ptr %at, align 8
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %done
done:
  ret void
}

define internal void @jut.fill.f32(ptr %p, i64 %n, float %x) #0 {
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %body, label %done
body:
  %i = phi i64 [ 0, %0 ], [ %next, %body ]
  %at = getelementptr inbounds nuw float, ptr %p, i64 %i
  store float %x, ptr %at, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %done
done:
  ret void
}

define internal void @jut.fill.i32(ptr %p, i64 %n, i32 %x) #0 {
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %body, label %done
body:
  %i = phi i64 [ 0, %0 ], [ %next, %body ]
  %at = getelementptr inbounds nuw i32, ptr %p, i64 %i
  store i32 %x, ptr %at, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %done
done:
  ret void
}

define internal void @jut.fill.i64(ptr %p, i64 %n, i64 %x) #0 {
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %body, label %done
body:
  %i = phi i64 [ 0, %0 ], [ %next, %body ]
  %at = getelementptr inbounds nuw i64, ptr %p, i64 %i
  store i64 %x, ptr %at, align 8
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %done
done:
  ret void
}

define internal void @jut.fill.ptr(ptr %p, i64 %n, ptr %x) #0 {
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %body, label %done
body:
  %i = phi i64 [ 0, %0 ], [ %next, %body ]
  %at = getelementptr inbounds nuw ptr, ptr %p, i64 %i
  store ptr %x, ptr %at, align 8
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %done
done:
  ret void
}

define internal void @jut.fill.bool(ptr %p, i64 %n, i1 %x) #0 {
  %byte = zext i1 %x to i8
  call void @llvm.memset.p0.i64(ptr %p, i8 %byte, i64 %n, i1 false)
  ret void
}

; Describes what became of a call from C, where the caller wants to know.
define internal void @jut.describe(ptr %error, i32 %status, i32 %line, i32 %column, i32 %count, ptr %message) #0 {
  %none = icmp eq ptr %error, null
  br i1 %none, label %done, label %fill
fill:
  store i32 %status, ptr %error, align 8
  %p1 = getelementptr inbounds i8, ptr %error, i64 4
  store i32 %line, ptr %p1, align 4
  %p2 = getelementptr inbounds i8, ptr %error, i64 8
  store i32 %column, ptr %p2, align 8
  %p3 = getelementptr inbounds i8, ptr %error, i64 12
  store i32 %count, ptr %p3, align 4
  %p4 = getelementptr inbounds i8, ptr %error, i64 16
  store ptr %message, ptr %p4, align 8
  br label %done
done:
  ret void
}

define internal void @jut.describe.failure(ptr %error, i32 %status, ptr %ws, ptr %rows, ptr %text) #7 {
  %none = icmp eq ptr %error, null
  br i1 %none, label %done, label %fill
fill:
  %psite = getelementptr inbounds i64, ptr %ws, i64 {FAILURE_SITE}
  %site = load i64, ptr %psite, align 8
  %row = getelementptr inbounds { i32, i32, i32, i32 }, ptr %rows, i64 %site
  %line = load i32, ptr %row, align 4
  %q1 = getelementptr inbounds i32, ptr %row, i64 1
  %column = load i32, ptr %q1, align 4
  %q2 = getelementptr inbounds i32, ptr %row, i64 2
  %count = load i32, ptr %q2, align 4
  %q3 = getelementptr inbounds i32, ptr %row, i64 3
  %begin = load i32, ptr %q3, align 4
  %far = zext i32 %begin to i64
  %message = getelementptr inbounds i8, ptr %text, i64 %far
  call void @jut.describe(ptr %error, i32 %status, i32 %line, i32 %column, i32 %count, ptr %message)
  %from = getelementptr inbounds i64, ptr %ws, i64 {FAILURE_OPERANDS}
  %to = getelementptr inbounds i8, ptr %error, i64 24
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 24, i1 false)
  br label %done
done:
  ret void
}

; A function of a program; a mathematical function; what is cold; what makes a pointer known;
; allocating; releasing; a kernel; what is cold and reads; what is cold and computes; what is written
; out where it is called.
attributes #0 = { nounwind "probe-stack"="inline-asm" }
attributes #1 = { nofree nosync nounwind willreturn memory(none) }
attributes #2 = { cold noinline nounwind memory(argmem: write) }
attributes #3 = { nounwind memory(inaccessiblemem: readwrite) }
attributes #4 = { noinline nounwind memory(argmem: readwrite, inaccessiblemem: readwrite) }
attributes #5 = { noinline nounwind }
attributes #7 = { cold noinline nounwind }
attributes #6 = { nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #8 = { cold noinline nofree nosync nounwind willreturn memory(none) }
attributes #9 = { alwaysinline nofree nosync nounwind willreturn memory(none) }
!0 = !{!"branch_weights", i32 2000, i32 1}
