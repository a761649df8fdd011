import { isRecord } from '../../base/document/is-record.ts'

/** ".spec.ports[0].name", ".status.conditions[?(@.type=='Ready')].status", ".metadata.labels.app\.kubernetes\.io/name": steps to values. */
type Step = (values: readonly unknown[]) => readonly unknown[]

const STEP =
  /\.((?:\\.|[^.[\]\\])+)|\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|(\*)|(-?\d+)|\?\(@\.([\w.-]+)\s*(==|!=)\s*(?:'([^']*)'|"([^"]*)"|([\w.-]+))\))\]/gy

/** Reads the values at a path; undefined when the path is not understood. */
export function compileJsonPath(path: string): ((object: unknown) => readonly unknown[]) | undefined {
  const steps: Step[] = []
  STEP.lastIndex = 0
  while (STEP.lastIndex < path.length) {
    const at = STEP.lastIndex
    const match = STEP.exec(path)
    if (match === null || STEP.lastIndex === at) return undefined
    steps.push(toStep(match))
  }
  return (object) => steps.reduce<readonly unknown[]>((values, step) => step(values), [object])
}

function toStep([
  ,
  plain,
  single,
  double,
  star,
  index,
  field = '',
  operator,
  text,
  other,
  bare,
]: RegExpExecArray): Step {
  const name = plain ?? single ?? double
  if (name === '*' || star !== undefined) return (values) => values.flatMap(childrenOf)
  if (name !== undefined) {
    const key = name.replaceAll(/\\(.)/g, '$1')
    return (values) => values.flatMap((value) => (isRecord(value) && Object.hasOwn(value, key) ? [value[key]] : []))
  }
  if (index !== undefined) {
    return (values) =>
      values.flatMap((value) =>
        Array.isArray(value) && Number(index) < value.length ? [value.at(Number(index)) as unknown] : [],
      )
  }
  const wanted = text ?? other ?? bare ?? ''
  const read = (item: unknown) =>
    field.split('.').reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), item)
  const fits = (item: unknown) => (String(read(item)) === wanted) === (operator === '==')
  return (values) => values.flatMap((value) => childrenOf(value).filter(fits))
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isRecord(value) ? Object.values(value) : []
}
