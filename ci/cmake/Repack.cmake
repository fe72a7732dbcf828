# For CPack, when it has made a package: has it packed again, so that equal files are equal packages.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../repack.sh ${package} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
