; What the runtime has.
declare ptr @jut_alloc_temp(ptr, i64) #4
declare ptr @jut_alloc_tape(ptr, i64) #4
declare void @jut_release(ptr, i64) #5
declare void @jut_release_tape(ptr, i64) #5
declare i32 @jut_shares(ptr, ptr, ptr, i64, i64, i64) #5
declare void @jut_workspace_begin(ptr, i64) #5
