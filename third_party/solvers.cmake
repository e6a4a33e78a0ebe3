# Libraries that solve or partition for planners, each of them optional: PCC_WITH_CBC=AUTO (the default) uses it if it is
# found, ON wants it, OFF leaves it out.  Each gives a target pcc_<name>.
#   PCC_SOLVER_NAMES   those that are used: "lpsolve;metis"
#   PCC_HAVE           definitions for the sources, PCC_HAVE_<NAME>=1 or 0
#   PCC_SOLVERS        the files of those that are linked, for who links the installed library
#   PCC_CBC_LIBRARY    the name by which CBC is opened when a planner first asks for it: linked, it and its eleven
#                      libraries would take 5 of 7 ms of every start

# pcc_find(name header library...): an imported target of a library without a pkg-config file.  Shared
# ones only: lp_solve's static one has a thousand names that others may have, too.
function(pcc_find name header)
    find_path(PCC_${name}_INCLUDE ${header} PATH_SUFFIXES lpsolve coin scotch)
    add_library(pcc_${name} INTERFACE IMPORTED GLOBAL)
    target_include_directories(pcc_${name} INTERFACE ${PCC_${name}_INCLUDE})
    set(found ON)
    foreach(library IN LISTS ARGN)
        find_library(PCC_${name}_${library} lib${library}.so PATH_SUFFIXES lp_solve)
        if(PCC_${name}_${library} AND PCC_${name}_INCLUDE)
            target_link_libraries(pcc_${name} INTERFACE ${PCC_${name}_${library}})
        else()
            set(found OFF)
        endif()
    endforeach()
    set(PCC_${name}_FOUND ${found} PARENT_SCOPE)
    get_target_property(files pcc_${name} INTERFACE_LINK_LIBRARIES)
    set(PCC_${name}_FILES ${files} PARENT_SCOPE)
endfunction()

# pcc_solver(name help package header library...)
macro(pcc_solver name help package)
    string(TOUPPER ${name} PCC_UPPER)
    set(PCC_WITH_${PCC_UPPER} AUTO CACHE STRING "${help}: AUTO, ON or OFF")
    set_property(CACHE PCC_WITH_${PCC_UPPER} PROPERTY STRINGS AUTO ON OFF)
    set(PCC_${name}_FOUND OFF)
    if(PCC_WITH_${PCC_UPPER})
        pcc_find(${name} ${ARGN})
    endif()
    if(PCC_${name}_FOUND)
        list(APPEND PCC_HAVE PCC_HAVE_${PCC_UPPER}=1)
        list(APPEND PCC_SOLVER_NAMES ${name})
        list(APPEND PCC_SOLVERS ${PCC_${name}_FILES})
    elseif(PCC_WITH_${PCC_UPPER} AND NOT PCC_WITH_${PCC_UPPER} STREQUAL AUTO)
        message(FATAL_ERROR "PCC_WITH_${PCC_UPPER}=ON: ${name} was not found as a shared library (Debian: ${package})")
    else()
        list(APPEND PCC_HAVE PCC_HAVE_${PCC_UPPER}=0)
        message(STATUS "without ${name}")
    endif()
endmacro()

set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON) # lp_solve's folder is not one that the loader knows

set(PCC_HAVE)
set(PCC_SOLVER_NAMES)
set(PCC_SOLVERS)
pcc_solver(lpsolve "lp_solve, the default of ip-place" "lp-solve liblpsolve55-dev" lp_lib.h lpsolve55)
pcc_solver(cbc "CBC, the stronger solver of integer programs" coinor-libcbc-dev Cbc_C_Interface.h CbcSolver Cbc)
if(PCC_cbc_FOUND)
    list(REMOVE_ITEM PCC_SOLVERS ${PCC_cbc_FILES})
    set_property(TARGET pcc_cbc PROPERTY INTERFACE_LINK_LIBRARIES ${CMAKE_DL_LIBS})
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${PCC_cbc_CbcSolver} OUTPUT_VARIABLE PCC_CBC_LIBRARY ERROR_QUIET)
    string(REGEX MATCH "SONAME +([^\n]+)" PCC_CBC_LIBRARY "${PCC_CBC_LIBRARY}")
    set(PCC_CBC_LIBRARY "${CMAKE_MATCH_1}")
    get_filename_component(PCC_CBC_FOLDER ${PCC_cbc_CbcSolver} DIRECTORY)
    if(NOT PCC_CBC_LIBRARY OR NOT PCC_CBC_FOLDER IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES) # the loader would not find it
        set(PCC_CBC_LIBRARY ${PCC_cbc_CbcSolver})
    endif()
    list(APPEND PCC_HAVE PCC_CBC_LIBRARY="${PCC_CBC_LIBRARY}")
endif()
pcc_solver(scotch "Scotch, for scotch-place" libscotch-dev scotch.h scotch scotcherr)
pcc_solver(metis "METIS, for metis-place" libmetis-dev metis.h metis)
