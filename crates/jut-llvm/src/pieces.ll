; The first n, at most eight, of eight neighbours: four, two and one of them, those that n has in base two. The others are what is given.
define internal <8 x double> @jut.load.first(ptr %p, i64 %n, <8 x double> %rest) #10 {
  %b8 = and i64 %n, 8
  %all = icmp ne i64 %b8, 0
  br i1 %all, label %eight, label %ask1
eight:
  %v8 = load <8 x double>, ptr %p, align 8
  ret <8 x double> %v8
ask1:
  %b1 = and i64 %n, 1
  %b2 = and i64 %n, 2
  %b4 = and i64 %n, 4
  %one = icmp ne i64 %b1, 0
  %two = icmp ne i64 %b2, 0
  %four = icmp ne i64 %b4, 0
  br i1 %one, label %load1, label %ask2
load1:
  %k1 = add i64 %b4, %b2
  %p1 = getelementptr double, ptr %p, i64 %k1
  %x1 = load double, ptr %p1, align 8
  %v1 = insertelement <8 x double> %rest, double %x1, i64 0
  br label %ask2
ask2:
  %with1 = phi <8 x double> [ %rest, %ask1 ], [ %v1, %load1 ]
  br i1 %two, label %load2, label %ask4
load2:
  %p2 = getelementptr double, ptr %p, i64 %b4
  %x2 = load <2 x double>, ptr %p2, align 8
  %w2 = shufflevector <2 x double> %x2, <2 x double> poison, <8 x i32> <i32 0, i32 1, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %v2 = shufflevector <8 x double> %w2, <8 x double> %with1, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13>
  br label %ask4
ask4:
  %with2 = phi <8 x double> [ %with1, %ask2 ], [ %v2, %load2 ]
  br i1 %four, label %load4, label %done
load4:
  %x4 = load <4 x double>, ptr %p, align 8
  %w4 = shufflevector <4 x double> %x4, <4 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 poison, i32 poison, i32 poison, i32 poison>
  %v4 = shufflevector <8 x double> %w4, <8 x double> %with2, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  br label %done
done:
  %with4 = phi <8 x double> [ %with2, %ask4 ], [ %v4, %load4 ]
  ret <8 x double> %with4
}

define internal void @jut.store.first(ptr %p, i64 %n, <8 x double> %v) #10 {
  %b8 = and i64 %n, 8
  %all = icmp ne i64 %b8, 0
  br i1 %all, label %eight, label %ask4
eight:
  store <8 x double> %v, ptr %p, align 8
  ret void
ask4:
  %b1 = and i64 %n, 1
  %b2 = and i64 %n, 2
  %b4 = and i64 %n, 4
  %one = icmp ne i64 %b1, 0
  %two = icmp ne i64 %b2, 0
  %four = icmp ne i64 %b4, 0
  %p2 = getelementptr double, ptr %p, i64 %b4
  br i1 %four, label %store4, label %ask2
store4:
  %x4 = shufflevector <8 x double> %v, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x double> %x4, ptr %p, align 8
  %v4 = shufflevector <8 x double> %v, <8 x double> poison, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 poison, i32 poison, i32 poison, i32 poison>
  br label %ask2
ask2:
  %after4 = phi <8 x double> [ %v, %ask4 ], [ %v4, %store4 ]
  br i1 %two, label %store2, label %ask1
store2:
  %x2 = shufflevector <8 x double> %after4, <8 x double> poison, <2 x i32> <i32 0, i32 1>
  store <2 x double> %x2, ptr %p2, align 8
  %v2 = shufflevector <8 x double> %after4, <8 x double> poison, <8 x i32> <i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 poison, i32 poison>
  br label %ask1
ask1:
  %after2 = phi <8 x double> [ %after4, %ask2 ], [ %v2, %store2 ]
  br i1 %one, label %store1, label %done
store1:
  %k1 = add i64 %b4, %b2
  %p1 = getelementptr double, ptr %p, i64 %k1
  %x1 = extractelement <8 x double> %after2, i64 0
  store double %x1, ptr %p1, align 8
  br label %done
done:
  ret void
}

attributes #10 = { alwaysinline nofree nosync nounwind willreturn memory(argmem: readwrite) }
