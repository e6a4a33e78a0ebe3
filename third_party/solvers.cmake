# Libraries that solve or partition for planners.  lp_solve is needed; the others are used where they are
# found (-DPCC_CBC=OFF and so on leaves one out).  Each gives a target pcc_<name>, and PCC_HAVE_<NAME> of
# pcc_core is 1 or 0.  PCC_SOLVERS: the files of those that are used, for who links the installed library.

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

set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON) # lp_solve's folder is not one that the loader knows

pcc_find(lpsolve lp_lib.h lpsolve55)
if(NOT PCC_lpsolve_FOUND)
    message(FATAL_ERROR "lp_solve 5.5, as a shared library, was not found (Debian: lp-solve liblpsolve55-dev)")
endif()

set(PCC_SOLVERS ${PCC_lpsolve_FILES})

option(PCC_CBC "CBC, the stronger solver of integer programs" ON)
option(PCC_SCOTCH "Scotch, for scotch-place" ON)
option(PCC_METIS "METIS, for metis-place" ON)
pcc_find(cbc Cbc_C_Interface.h CbcSolver Cbc)
pcc_find(scotch scotch.h scotch)
pcc_find(metis metis.h metis)
foreach(name cbc scotch metis)
    string(TOUPPER ${name} upper)
    if(PCC_${upper} AND PCC_${name}_FOUND)
        set(PCC_HAVE_${upper} 1)
        list(APPEND PCC_SOLVERS ${PCC_${name}_FILES})
    else()
        set(PCC_HAVE_${upper} 0)
        message(STATUS "without ${name}")
    endif()
endforeach()

# What a linker wants for them; the loader does not know lp_solve's folder.
set(PCC_SOLVERS_LDFLAGS ${PCC_SOLVERS})
foreach(file IN LISTS PCC_SOLVERS)
    get_filename_component(folder ${file} DIRECTORY)
    list(APPEND PCC_SOLVERS_LDFLAGS -Wl,-rpath,${folder})
endforeach()
list(REMOVE_DUPLICATES PCC_SOLVERS_LDFLAGS)
