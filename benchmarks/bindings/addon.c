/*
 * recvmmsg(2) and sendmmsg(2) as a Node-API addon, to compare with koffi. The cheapest that Node-API allows:
 * numbers in, a number out, no objects.
 */
#define _GNU_SOURCE
#include <node_api.h>
#include <stdint.h>
#include <sys/socket.h>

static napi_value call(napi_env env, napi_callback_info info, int sending) {
  size_t count = 4;
  napi_value arguments[4], result;
  int32_t fd, flags;
  int64_t messages;
  uint32_t length;
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  napi_get_value_int32(env, arguments[0], &fd);
  napi_get_value_int64(env, arguments[1], &messages);
  napi_get_value_uint32(env, arguments[2], &length);
  napi_get_value_int32(env, arguments[3], &flags);
  struct mmsghdr *array = (struct mmsghdr *)(intptr_t)messages;
  int moved = sending ? sendmmsg(fd, array, length, flags) : recvmmsg(fd, array, length, flags, NULL);
  napi_create_int32(env, moved, &result);
  return result;
}

static napi_value receive(napi_env env, napi_callback_info info) { return call(env, info, 0); }
static napi_value send_all(napi_env env, napi_callback_info info) { return call(env, info, 1); }

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, NULL, 0, receive, NULL, &function);
  napi_set_named_property(env, exports, "recvmmsg", function);
  napi_create_function(env, NULL, 0, send_all, NULL, &function);
  napi_set_named_property(env, exports, "sendmmsg", function);
  return exports;
}
