# pcc_embed(NAME FILE HEADER...): adds to PCC_SOURCES a C file, which is made when the build is configured and includes
# the headers.  It defines NAME_text and NAME_size, the bytes of FILE and their number, which one of the headers
# declares, and NAME_sha256, the SHA-256 of these bytes in base64.

# Sets `out` to the base64 of the bytes that are written in hexadecimal in `hex`.
function(pcc_base64 hex out)
    set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
    string(LENGTH ${hex} digits)
    math(EXPR missing "(6 - ${digits} % 6) % 6 / 2") # bytes to the end of the last group of three
    string(REPEAT 00 ${missing} zeros)
    string(REGEX MATCHALL "......" groups ${hex}${zeros})
    set(text)
    foreach(group IN LISTS groups)
        foreach(shift 18 12 6 0) # three bytes are four letters of 6 bits
            math(EXPR letter "(0x${group} >> ${shift}) & 63")
            string(SUBSTRING ${letters} ${letter} 1 letter)
            string(APPEND text ${letter})
        endforeach()
    endforeach()
    string(REPEAT "=" ${missing} padding)
    string(LENGTH ${text} length)
    math(EXPR length "${length} - ${missing}")
    string(SUBSTRING ${text} 0 ${length} text)
    set(${out} ${text}${padding} PARENT_SCOPE)
endfunction()

function(pcc_embed name file)
    set(path ${PROJECT_SOURCE_DIR}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} bytes HEX)
    file(SHA256 ${path} hash)
    pcc_base64(${hash} hash)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
    string(JOIN "" includes ${includes})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.c CONTENT [[@includes@extern const char @name@_sha256[];
const unsigned char @name@_text[] = {@bytes@};
const size_t @name@_size = sizeof @name@_text;
const char @name@_sha256[] = "@hash@";
]] @ONLY)
    list(APPEND PCC_SOURCES ${PROJECT_BINARY_DIR}/${name}.c)
    set(PCC_SOURCES ${PCC_SOURCES} PARENT_SCOPE)
endfunction()
