# cmake --install: programs, manual page, completions; libpcc.a, its headers, pkg-config file and
# CMake package, so that others can link it:
#     find_package(pcc REQUIRED)  target_link_libraries(mine PRIVATE pcc::pcc)
#     cc mine.c $(pkg-config --cflags --libs pcc)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- programs and what goes with them

set(PCC_DOCS ${PROJECT_BINARY_DIR}/docs)
file(MAKE_DIRECTORY ${PCC_DOCS})
add_custom_command(
    OUTPUT ${PCC_DOCS}/pcc.1 ${PCC_DOCS}/pcc.bash ${PCC_DOCS}/_pcc
    COMMAND pcc --help-man > ${PCC_DOCS}/pcc.1
    COMMAND pcc --help-completion=bash > ${PCC_DOCS}/pcc.bash
    COMMAND pcc --help-completion=zsh > ${PCC_DOCS}/_pcc
    DEPENDS pcc
    COMMENT "manual page and completions"
    VERBATIM)
add_custom_target(pcc_docs ALL DEPENDS ${PCC_DOCS}/pcc.1)

install(TARGETS pcc pcc-gen RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${PCC_DOCS}/pcc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PCC_DOCS}/pcc.bash RENAME pcc
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PCC_DOCS}/_pcc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# ---- library.  Only what the public headers need; the rest may change at any time.

set(PCC_HEADERS
    ir/ir.h ir/base/arena.h ir/base/csr.h ir/base/diag.h ir/base/strings.h ir/base/units.h ir/base/warnings.h
    ir/model/dim.h ir/model/module.h ir/cluster/cluster.h ir/dag/placeable.h ir/dag/scene.h ir/dag/wdag.h
    ir/plan/parts.h ir/plan/plan.h ir/text/text.h
    frontends/frontends.h passes/passes.h passes/pipeline.h backends/backends.h)
foreach(header IN LISTS PCC_HEADERS)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pcc/${folder})
endforeach()

set_target_properties(pcc_core PROPERTIES EXPORT_NAME pcc)
set_target_properties(onnx_pb PROPERTIES OUTPUT_NAME pcc_onnx)
install(TARGETS pcc_core onnx_pb EXPORT pccTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pcc)
set(PCC_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/pcc)
install(EXPORT pccTargets NAMESPACE pcc:: DESTINATION ${PCC_PACKAGE})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pccConfig.cmake.in
    ${PROJECT_BINARY_DIR}/pccConfig.cmake INSTALL_DESTINATION ${PCC_PACKAGE})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pccConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pccConfig.cmake ${PROJECT_BINARY_DIR}/pccConfigVersion.cmake
    DESTINATION ${PCC_PACKAGE})

# Relative to the file itself: the folder can be moved, or be chosen when installing.
file(RELATIVE_PATH PCC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(PCC_PC_SOLVERS "") # with folders that the loader does not know: lp_solve's
foreach(file IN LISTS PCC_SOLVERS)
    get_filename_component(folder ${file} DIRECTORY)
    string(APPEND PCC_PC_SOLVERS " ${file}")
    if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
        string(APPEND PCC_PC_SOLVERS " -Wl,-rpath,${folder}")
    endif()
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/pcc.pc.in ${PROJECT_BINARY_DIR}/pcc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pcc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
