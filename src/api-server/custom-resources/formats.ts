import { isIP } from 'node:net'

type Check = (value: string) => boolean

const matches =
  (pattern: RegExp): Check =>
  (value) =>
    pattern.test(value)

const UUID = (version: string) =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, 'i'))
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** The formats of texts that are checked; all others are only a remark. */
const checks: Readonly<Record<string, Check>> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  byte: matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  cidr: (value) => {
    const [address = '', bits = ''] = value.split('/')
    const family = isIP(address)
    return family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
  },
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && isDay(value),
  'date-time': (value) =>
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(value) && isDay(value.slice(0, 10)),
  datetime: (value) => checks['date-time']?.(value) === true,
  duration: matches(
    /^[+-]?(?:\d+(?:\.\d+)?\s*(?:ns|us|\u00b5s|ms|s|m|h|d|w|nano|micro|milli|sec|min|hour|day|week)[a-z]*\s*)+$|^0$/,
  ),
  email: matches(/^[^\s@<>]+@[^\s@<>]+$/),
  hexcolor: matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i),
  hostname: (value) =>
    value.length <= 255 &&
    value.split('.').every((part) => /^[a-zA-Z0-9_]([-a-zA-Z0-9_]{0,61}[a-zA-Z0-9_])?$/.test(part)),
  ipv4: (value) => isIP(value) === 4,
  ipv6: (value) => isIP(value) === 6,
  'k8s-long-name': (value) => value.length <= 253 && value.split('.').every((part) => LABEL.test(part)),
  'k8s-short-name': (value) => value.length <= 63 && LABEL.test(value),
  mac: matches(/^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})$/i),
  password: () => true,
  rgbcolor: matches(/^rgb\(\s*(?:\d{1,3})\s*,\s*(?:\d{1,3})\s*,\s*(?:\d{1,3})\s*\)$/),
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  uri: (value) => URL.canParse(value) || /^\/[^\s]*$/.test(value),
  uuid: UUID('[0-9a-f]'),
  uuid3: UUID('3'),
  uuid4: UUID('4'),
  uuid5: UUID('5'),
}

/** Whether a text has the form that a format asks for. */
export function hasFormat(value: string, format: string): boolean {
  return !Object.hasOwn(checks, format) || checks[format]?.(value) === true
}

function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
