# cmake --install: programs, manual page, completions, schemas, Python programs, all pages, the licence; libpcc.so with pcc.h,
# libpcc.a with the finer headers, pkg-config files and a CMake package, so that others can link them:
#     find_package(pcc REQUIRED)  target_link_libraries(mine PRIVATE pcc::pcc)
#     find_package(pcc REQUIRED COMPONENTS static)  target_link_libraries(mine PRIVATE pcc::static)
#     cc mine.c $(pkg-config --cflags --libs pcc)          or pcc-static
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- programs and what goes with them

set(PCC_DOCS ${PROJECT_BINARY_DIR}/docs)
file(MAKE_DIRECTORY ${PCC_DOCS})
add_custom_target(manuals ALL)

# Manual page and completions of each program are of the component `share`: files that no machine's compiler made. The
# wheel takes them from there (wheel.py).
foreach(name pcc pcc-profile pcc-run pcc-verify)
    set(files ${PCC_DOCS}/${name}.1 ${PCC_DOCS}/${name}.bash ${PCC_DOCS}/_${name} ${PCC_DOCS}/${name}.fish)
    add_custom_command(
        OUTPUT ${files}
        COMMAND ${name} --help-man > ${PCC_DOCS}/${name}.1
        COMMAND ${name} --help-completion=bash > ${PCC_DOCS}/${name}.bash
        COMMAND ${name} --help-completion=zsh > ${PCC_DOCS}/_${name}
        COMMAND ${name} --help-completion=fish > ${PCC_DOCS}/${name}.fish
        DEPENDS ${name}
        COMMENT "manual page and completions of ${name}"
        VERBATIM)
    add_custom_target(manual_${name} DEPENDS ${files})
    add_dependencies(manuals manual_${name})
    install(FILES ${PCC_DOCS}/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT share)
    install(FILES ${PCC_DOCS}/${name}.bash RENAME ${name}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT share)
    install(FILES ${PCC_DOCS}/_${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT share)
    install(FILES ${PCC_DOCS}/${name}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT share)
endforeach()
install(TARGETS pcc pcc-gen pcc-profile pcc-run pcc-verify RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET pcc_mpi) # pcc-run looks for it in ../lib/pcc
    install(TARGETS pcc_mpi LIBRARY DESTINATION lib/pcc)
endif()

# Pages and programs lie as in the tree, so that what one says of another can be found: all pages, and the programs in
# Python that need no source. The schemas are among the pages, which refer to them, and where programs read them.
set(PCC_SCHEMAS ${PROJECT_SOURCE_DIR}/backends/split/manifest.schema.json
    ${PROJECT_SOURCE_DIR}/backends/split/schedule.schema.json)
set(PCC_DATA_FOLDER ${CMAKE_INSTALL_DATADIR}/pcc)
set(PCC_DOC_FOLDER ${CMAKE_INSTALL_DATADIR}/doc/pcc-onnx)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright DESTINATION ${PCC_DOC_FOLDER} COMPONENT share)
file(GLOB PCC_PAGES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PCC_PAGES} DESTINATION ${PCC_DOC_FOLDER} COMPONENT share)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${PCC_DOC_FOLDER} COMPONENT share)
foreach(folder ir frontends passes backends tools)
    file(GLOB_RECURSE pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.md)
    foreach(page IN LISTS pages)
        get_filename_component(at ${page} DIRECTORY)
        install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION ${PCC_DOC_FOLDER}/${at} COMPONENT share)
    endforeach()
endforeach()
install(FILES ${PCC_SCHEMAS} DESTINATION ${PCC_DOC_FOLDER}/backends/split COMPONENT share)
install(FILES ${PCC_SCHEMAS} ${PROJECT_SOURCE_DIR}/backends/split/manifest.md
    DESTINATION ${PCC_DATA_FOLDER} COMPONENT share)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/measure.py ${PROJECT_SOURCE_DIR}/tools/support.py
    ${PROJECT_SOURCE_DIR}/tools/verify_split.py
    DESTINATION ${PCC_DATA_FOLDER}/tools COMPONENT share)
file(GLOB PCC_BENCH CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/bench/*.py)
list(FILTER PCC_BENCH EXCLUDE REGEX "/(ablation|commands|mutate|shard_errors)\\.py$") # they need sources
install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/bench/pcc-bench ${PCC_BENCH}
    DESTINATION ${PCC_DATA_FOLDER}/tools/bench COMPONENT share)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/python/pcc DESTINATION ${PCC_DATA_FOLDER}/tools/python
    FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)
file(RELATIVE_PATH PCC_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/pcc/tools/bench/pcc-bench)
file(CREATE_LINK ${PCC_FROM_BIN} ${PCC_DOCS}/pcc-bench SYMBOLIC)
install(FILES ${PCC_DOCS}/pcc-bench DESTINATION ${CMAKE_INSTALL_BINDIR})

# ---- libraries.  pcc.h is what the shared one shows; the finer headers, with all that they include, go with the static
# one and may change at any time.

install(FILES ${PROJECT_SOURCE_DIR}/tools/lib/pcc.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(PCC_HEADERS ir/ir.h ir/base/strings.h ir/plan/parts.h frontends/frontends.h passes/passes.h passes/pipeline.h backends/backends.h)
set(PCC_INCLUDING ${PCC_HEADERS})
while(PCC_INCLUDING)
    list(POP_FRONT PCC_INCLUDING header)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^#include \"(.*)\".*$" "\\1" included ${line})
        if(NOT included IN_LIST PCC_HEADERS)
            list(APPEND PCC_HEADERS ${included})
            list(APPEND PCC_INCLUDING ${included})
        endif()
    endforeach()
endwhile()
foreach(header IN LISTS PCC_HEADERS)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pcc/${folder})
endforeach()

set_target_properties(onnx_pb PROPERTIES OUTPUT_NAME pcc_onnx)
set(PCC_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/pcc)
install(TARGETS pcc_shared EXPORT pccTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS pcc_core onnx_pb EXPORT pccStaticTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_INCLUDEDIR}/pcc)
install(EXPORT pccTargets NAMESPACE pcc:: DESTINATION ${PCC_PACKAGE})
install(EXPORT pccStaticTargets NAMESPACE pcc:: DESTINATION ${PCC_PACKAGE})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pccConfig.cmake.in
    ${PROJECT_BINARY_DIR}/pccConfig.cmake INSTALL_DESTINATION ${PCC_PACKAGE})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pccConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pccConfig.cmake ${PROJECT_BINARY_DIR}/pccConfigVersion.cmake
    DESTINATION ${PCC_PACKAGE})

# Relative to the file itself: the folder can be moved, or be chosen when installing.
file(RELATIVE_PATH PCC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(PCC_PC_SOLVERS "") # " -lmetis", and the folders that a linker does not know: lp_solve's
set(PCC_PC_FOLDERS "")
foreach(file IN LISTS PCC_SOLVERS)
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "^lib" " -l" name ${name})
    string(APPEND PCC_PC_SOLVERS "${name}")
    if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
        string(APPEND PCC_PC_FOLDERS " -L${folder} -Wl,-rpath,${folder}")
    endif()
endforeach()
foreach(name pcc pcc-static)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
