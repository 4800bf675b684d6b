/**
 * A Kubernetes cluster for CoreDNS without a cluster: generated objects, an API server that serves them, an upstream
 * with a delay, the stock Corefile, and what every name's answer is.
 */
export { EXIT_STATUS, type Problem } from '@dinodns-bench/program';
export { type AnnouncedService, type Churn, MAX_CHURN_RATE, type ServiceChange } from './api-server/churn.ts';
export { type ControlStatus, controlsOver, type ServerControls } from './api-server/control-client.ts';
export { type ApiServer, type ApiServerOptions, type Served, startApiServer } from './api-server/server.ts';
export {
  type Cluster,
  defineCluster,
  objectCount,
  type Pod,
  SERVICE_PORT,
  type Service,
  specForObjects,
} from './cluster/cluster.ts';
export { type ClusterInput, type ClusterSpec, clusterSpecSchema } from './cluster/spec.ts';
export * from './corefile.ts';
export * from './errors.ts';
export type { KubeObject } from './kubernetes/object.ts';
export * from './kubernetes/resources.ts';
export * from './names/external.ts';
export * from './names/internal.ts';
export * from './names/mix.ts';
export type { AnswerRecord, Expected, Question, QuestionType } from './names/question.ts';
export * from './upstream/path.ts';
export * from './upstream/upstream.ts';
