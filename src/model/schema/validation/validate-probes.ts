import type { Container, Int64, Lifecycle, LifecycleHandler, Probe } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { headerName } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'
import { validatePortReference } from './validate-ports.ts'

/** What a probe or a hook does: the fields of both that are no numbers of the schedule. */
type Handler = LifecycleHandler & { readonly [K in ProbeKind]?: Probe[K] }
type ProbeKind = { readonly [K in keyof Probe]-?: NonNullable<Probe[K]> extends object ? K : never }[keyof Probe]

// Each probe or hook may have only one of them.
const HANDLERS = keysOf<Handler>({ exec: true, httpGet: true, tcpSocket: true, grpc: true, sleep: true })

/** What the rules of probes and hooks need to know of their pod. */
export interface ProbeContext {
  readonly gracePeriodSeconds: Int64
  readonly os: string | undefined
}

/** Probes and hooks of a container that runs beside others. */
export function validateProbes(
  container: Container,
  context: ProbeContext,
  path: FieldPath,
  problems: ProblemList,
): void {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container
  for (const [name, probe] of Object.entries({ livenessProbe, startupProbe })) {
    if (probe === undefined) continue
    validateProbe(probe, context, path.child(name), problems)
    if (probe.successThreshold !== 1) {
      problems.invalid(path.child(name).child('successThreshold'), probe.successThreshold, 'must be 1')
    }
  }
  if (readinessProbe) {
    const at = path.child('readinessProbe')
    validateProbe(readinessProbe, context, at, problems)
    if (readinessProbe.terminationGracePeriodSeconds !== undefined) {
      const value = readinessProbe.terminationGracePeriodSeconds
      problems.invalid(at.child('terminationGracePeriodSeconds'), value, 'a failing readiness probe ends nothing')
    }
  }
  if (lifecycle) validateLifecycle(lifecycle, context, path.child('lifecycle'), problems)
}

/** An init container that must end has nothing to probe and no hooks. */
export function forbidProbes(container: Container, path: FieldPath, problems: ProblemList): void {
  for (const name of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    if (container[name] !== undefined) {
      problems.forbidden(path.child(name), 'only for init containers that keep running (restartPolicy: Always)')
    }
  }
}

function validateProbe(probe: Probe, context: ProbeContext, path: FieldPath, problems: ProblemList): void {
  validateHandler(probe, context, path, problems)
  for (const name of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    problems.notNegative(path.child(name), probe[name])
  }
  const grace = probe.terminationGracePeriodSeconds
  if (grace !== undefined && grace <= 0) {
    problems.invalid(path.child('terminationGracePeriodSeconds'), grace, 'must be at least 1')
  }
}

function validateLifecycle(lifecycle: Lifecycle, context: ProbeContext, path: FieldPath, problems: ProblemList): void {
  for (const name of ['postStart', 'preStop'] as const) {
    const handler = lifecycle[name]
    if (handler !== undefined) validateHandler(handler, context, path.child(name), problems)
  }
  if (lifecycle.stopSignal === undefined) return
  const at = path.child('stopSignal')
  if (context.os === undefined) problems.forbidden(at, 'needs spec.os.name')
  else if (!STOP_SIGNAL.test(lifecycle.stopSignal)) {
    problems.invalid(at, lifecycle.stopSignal, 'must be the name of a signal, such as SIGTERM')
  }
}

const STOP_SIGNAL =
  /^SIG(?:ABRT|ALRM|BUS|CHLD|CLD|CONT|FPE|HUP|ILL|INT|IO|IOT|KILL|PIPE|POLL|PROF|PWR|QUIT|SEGV|STKFLT|STOP|SYS|TERM|TRAP|TSTP|TTIN|TTOU|URG|USR1|USR2|VTALRM|WINCH|XCPU|XFSZ|RTMIN(?:\+(?:\d|1[0-5]))?|RTMAX(?:-(?:\d|1[0-4]))?)$/

function validateHandler(handler: Handler, context: ProbeContext, path: FieldPath, problems: ProblemList): void {
  const [first, ...others] = HANDLERS.filter((name) => handler[name] !== undefined)
  if (first === undefined) problems.required(path, 'needs one way to act, such as exec or httpGet')
  for (const name of others) problems.forbidden(path.child(name), 'there is another way to act already')
  if (handler.exec && handler.exec.command?.length === undefined) problems.required(path.child('exec').child('command'))
  if (handler.exec?.command?.length === 0) problems.required(path.child('exec').child('command'))
  if (handler.tcpSocket) {
    validatePortReference(handler.tcpSocket.port, path.child('tcpSocket').child('port'), problems)
  }
  if (handler.grpc) validatePortReference(handler.grpc.port, path.child('grpc').child('port'), problems)
  if (handler.sleep) {
    const { seconds } = handler.sleep
    if (seconds < 0 || seconds > context.gracePeriodSeconds) {
      const rule = `must be between 0 and terminationGracePeriodSeconds (${context.gracePeriodSeconds})`
      problems.invalid(path.child('sleep').child('seconds'), seconds, rule)
    }
  }
  if (handler.httpGet) validateHttpGet(handler.httpGet, path.child('httpGet'), problems)
}

function validateHttpGet(action: NonNullable<Handler['httpGet']>, path: FieldPath, problems: ProblemList): void {
  validatePortReference(action.port, path.child('port'), problems)
  problems.oneOf(path.child('scheme'), action.scheme, ['HTTP', 'HTTPS'])
  for (const [index, header] of (action.httpHeaders ?? []).entries()) {
    problems.matches(path.child('httpHeaders').index(index).child('name'), header.name, headerName)
  }
}

/** The names of all fields of a type: the compiler asks for each. */
function keysOf<T>(fields: Readonly<Record<keyof T, true>>): readonly (keyof T)[] {
  return Object.keys(fields) as (keyof T)[]
}
