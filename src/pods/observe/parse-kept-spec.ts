import type { ContainerPort } from '../../model/generated/core-v1.ts'
import type { KeptSpec } from '../../model/pod/observed-pod.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { toSeconds } from '../../model/text/int64.ts'
import { parseExactJson } from '../../base/document/exact-json.ts'

export const PRE_STOP_ANNOTATION = 'io.kubernetes.container.preStopHandler'
const WHOLE_NUMBER = /^\d{1,19}$/

/** Reads what was kept of a spec in the annotations of a container; what cannot be read is left out. */
export function parseKeptSpec(annotations: Readonly<Record<string, string>>): KeptSpec {
  const deletionGracePeriodSeconds = parseSeconds(annotations['io.kubernetes.pod.deletionGracePeriod'])
  const terminationGracePeriodSeconds = parseSeconds(annotations['io.kubernetes.pod.terminationGracePeriod'])
  const preStop = parseJson(annotations[PRE_STOP_ANNOTATION])
  const ports = parseJson(annotations['io.kubernetes.container.ports'])
  return {
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }),
    ...(isRecord(preStop) ? { preStop } : {}),
    ...(Array.isArray(ports) && ports.every(isRecord) ? { ports: ports as unknown as readonly ContainerPort[] } : {}),
  }
}

function parseSeconds(text = ''): number | undefined {
  return WHOLE_NUMBER.test(text) ? toSeconds(BigInt(text)) : undefined
}

function parseJson(text = 'null'): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}
