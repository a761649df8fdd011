import { objectList } from '../kinds/collection-kinds.ts'
import { bool, duration, int32, text } from '../kinds/scalar-kinds.ts'
import { isLabelValue, isQualifiedName } from '../values/label-syntax.ts'
import { parseTaints } from './list-flags.ts'

const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** The API server, and this node in it. */
export const apiServerFields = {
  contentType: text({
    default: 'application/vnd.kubernetes.protobuf',
    flag: 'kube-api-content-type',
    about: 'content type of requests to the API server',
  }),
  kubeAPIQPS: int32({
    default: 50,
    keepsZero: true,
    min: 0,
    flag: 'kube-api-qps',
    about: 'requests a second to the API server',
  }),
  kubeAPIBurst: int32({ default: 100, min: 0, flag: 'kube-api-burst', about: 'requests at once to the API server' }),
  eventRecordQPS: int32({
    default: 50,
    keepsZero: true,
    min: 0,
    flag: 'event-qps',
    about: 'events a second; 0 is the default of clients, 5',
  }),
  eventBurst: int32({ default: 100, min: 0, flag: 'event-burst', about: 'events at once' }),
  rotateCertificates: bool({
    default: false,
    flag: 'rotate-certificates',
    about: 'renew the client certificate before it expires',
  }),
  registerNode: bool({ default: true, keepsZero: true, flag: 'register-node', about: 'make the Node object' }),
  registerWithTaints: objectList(
    {
      key: text({
        default: '',
        about: 'key of the taint',
        rule: (value) => (isQualifiedName(value) ? undefined : 'expected a taint key such as "example.com/dedicated"'),
      }),
      value: text({
        default: '',
        about: 'value of the taint',
        rule: (value) => (isLabelValue(value) ? undefined : 'expected at most 63 letters, digits, "-", "_" and "."'),
      }),
      effect: text({
        default: '',
        about: 'effect of the taint',
        rule: (value) => (TAINT_EFFECTS.includes(value) ? undefined : `expected one of ${TAINT_EFFECTS.join(', ')}`),
      }),
      timeAdded: text({
        default: undefined,
        keepsZero: true,
        about: 'set by the API server only',
        rule: () => 'expected it to be unset',
      }),
    },
    {
      default: [],
      flag: 'register-with-taints',
      flagType: '[]v1.Taint',
      parseFlag: parseTaints,
      about: 'taints of the Node object when it is made, as key=value:Effect,…',
    },
  ),
  providerID: text({
    default: '',
    flag: 'provider-id',
    flagStays: true,
    about: 'id of this machine at its cloud provider',
  }),
  nodeStatusUpdateFrequency: duration({
    default: '10s',
    flag: 'node-status-update-frequency',
    about: 'time between two checks of the state of the node',
  }),
  nodeStatusReportFrequency: duration({
    default: '5m',
    about: 'time after which the unchanged state is reported again',
  }),
  nodeLeaseDurationSeconds: int32({
    default: 40,
    min: 1,
    about: 'seconds that a lease lasts; renewed after a quarter',
  }),
  nodeStatusMaxImages: int32({
    default: 50,
    keepsZero: true,
    min: -1,
    flag: 'node-status-max-images',
    about: 'images listed in the node status; -1 is all',
  }),
  enableControllerAttachDetach: bool({
    default: true,
    keepsZero: true,
    flag: 'enable-controller-attach-detach',
    about: 'leave attaching of volumes to the controller',
  }),
  volumeStatsAggPeriod: duration({
    default: '1m',
    flag: 'volume-stats-agg-period',
    about: 'time between two measurements of volumes; below 0 is never',
  }),
}
