open("shadow.txt", "w").write("PASSED")
