# cpack: deb, rpm and tar of what is installed. The name is pcc-onnx, since Debian has another pcc (a C compiler), with
# which it cannot be installed: both have /usr/bin/pcc.
#     cpack --config build/release/CPackConfig.cmake -G DEB        or RPM, TGZ
set(CPACK_PACKAGE_NAME pcc-onnx)
set(CPACK_PACKAGE_VENDOR pcc)
set(CPACK_PACKAGE_CONTACT "the authors of pcc")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "splits neural networks (ONNX) over several devices")
set(CPACK_PACKAGE_DESCRIPTION "pcc reads an ONNX model, works out what every operator costs on your devices, finds the
split with the least time per sample, and writes one runnable ONNX model per part.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_SOURCE_GENERATOR "")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS graphviz)
set(CPACK_DEBIAN_PACKAGE_CONFLICTS pcc)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "") # on libraries of which dpkg-shlibdeps knows nothing
if("lpsolve" IN_LIST PCC_SOLVER_NAMES)
    list(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS lp-solve)
endif()
if("cbc" IN_LIST PCC_SOLVER_NAMES) # opened by pcc, not linked
    file(REAL_PATH ${PCC_cbc_CbcSolver} PCC_CBC_FILE)
    execute_process(COMMAND dpkg-query --search ${PCC_CBC_FILE}
        OUTPUT_VARIABLE PCC_CBC_PACKAGE ERROR_QUIET RESULT_VARIABLE PCC_CBC_STATUS)
    if(PCC_CBC_STATUS EQUAL 0)
        string(REGEX REPLACE "[:,].*" "" PCC_CBC_PACKAGE "${PCC_CBC_PACKAGE}")
        list(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ${PCC_CBC_PACKAGE})
    endif()
    set(CPACK_RPM_PACKAGE_REQUIRES "${PCC_CBC_LIBRARY}()(64bit)")
endif()
list(JOIN CPACK_DEBIAN_PACKAGE_DEPENDS ", " CPACK_DEBIAN_PACKAGE_DEPENDS)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_SUGGESTS graphviz)
set(CPACK_RPM_PACKAGE_CONFLICTS pcc)
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1 /usr/share/zsh
    /usr/share/zsh/site-functions /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/bash-completion /usr/share/bash-completion/completions)
set(CPACK_RPM_POST_INSTALL_SCRIPT_FILE ${CMAKE_CURRENT_LIST_DIR}/ldconfig.sh)
set(CPACK_RPM_POST_UNINSTALL_SCRIPT_FILE ${CMAKE_CURRENT_LIST_DIR}/ldconfig.sh)
include(CPack)
