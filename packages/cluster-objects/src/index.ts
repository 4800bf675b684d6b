/**
 * A Kubernetes cluster for CoreDNS without a cluster: generated objects, an API server that serves them, an upstream
 * with a delay, the stock Corefile, and what every name's answer is.
 */
export { EXIT_STATUS, type Problem } from '@dinodns-bench/program';
export type { AnnouncedService, Churn, ServiceChange } from './api-server/churn.ts';
export { type ControlStatus, controlsOver, type ServerControls } from './api-server/control-client.ts';
export { type ApiServer, type ApiServerOptions, type Served, startApiServer } from './api-server/server.ts';
export {
  type Cluster,
  defineCluster,
  type Pod,
  SERVICE_PORT,
  type Service,
  specForObjects,
} from './cluster/cluster.ts';
export type { ClusterInput, ClusterSpec } from './cluster/spec.ts';
export {
  type CorefileOptions,
  type NodeLocalOptions,
  renderCorefile,
  renderNodeLocalCorefile,
} from './corefile.ts';
export { ClusterError, ERROR_CODES, type ErrorCode } from './errors.ts';
export type { KubeObject } from './kubernetes/object.ts';
export {
  ENDPOINT_SLICES,
  NAMESPACES,
  NODES,
  PODS,
  RESOURCES,
  type Resource,
  SERVICES,
} from './kubernetes/resources.ts';
export {
  defineExternal,
  type External,
  type ExternalInput,
  type ExternalSpec,
  externalQuestion,
  externalQuestions,
} from './names/external.ts';
export {
  memberQuestion,
  podPointerQuestion,
  podQuestion,
  serviceName,
  servicePointerQuestion,
  serviceQuestion,
  srvQuestion,
} from './names/internal.ts';
export { INTERNAL_MIX, internalQuestions } from './names/mix.ts';
export type { AnswerRecord, Expected, Question, QuestionType } from './names/question.ts';
export { openPath, type Path } from './upstream/path.ts';
export {
  type Behaviour,
  startUpstream,
  type Upstream,
  type UpstreamOptions,
} from './upstream/upstream.ts';
