import type { FeatureGate } from './feature-gate-table.ts'

interface FixedFeature {
  /** What holds, however the gate is set. */
  readonly isOn: boolean
  /** Ends the sentence "Feature gate X=true has no effect: …". */
  readonly why: string
}

const STATIC_PODS = 'what static pods may say does not depend on it'

/**
 * Gates that the Go kubelet obeys and this one does not. Setting one to something else than what holds is a warning at the start, and metrics and
 * /statusz show what holds. A feature that arrives takes its gate off this list; `test/fixtures/gate-uses.ts` accounts for all other gates.
 */
export const GATES_WITHOUT_EFFECT: Readonly<Partial<Record<FeatureGate, FixedFeature>>> = {
  ClientsAllowCARotation: { isOn: true, why: 'the certificate authority of the API server is always followed' },
  ClientsAllowCBOR: { isOn: false, why: 'the API is spoken to in JSON' },
  ClientsPreferCBOR: { isOn: false, why: 'the API is spoken to in JSON' },
  DRANodeAllocatableResources: {
    isOn: false,
    why: 'what claims take of the own resources of a node is not counted at admission',
  },
  EventedPLEG: {
    isOn: true,
    why: 'events of the runtime are always used where it has them, and a relist finds what they miss',
  },
  NativeHistograms: { isOn: false, why: 'histograms have the buckets that they always had' },
  RelaxedDNSSearchValidation: { isOn: true, why: STATIC_PODS },
  RelaxedEnvironmentVariableValidation: { isOn: true, why: STATIC_PODS },
  StrictIPCIDRValidation: { isOn: true, why: STATIC_PODS },
  UnauthenticatedHTTP2DOSMitigation: { isOn: true, why: 'the port speaks HTTP/1.1 only' },
  WatchListClient: { isOn: false, why: 'a list comes before each watch' },
}
