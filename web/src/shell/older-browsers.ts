// What our libraries take for granted and the oldest browsers that we build for (Chrome 90, Firefox 88, Safari 14) lack.

function at<T>(this: ArrayLike<T>, index: number): T | undefined {
  const place = Math.trunc(index) || 0
  return this[place < 0 ? this.length + place : place]
}

for (const prototype of [Array.prototype, String.prototype]) {
  if (!Reflect.has(prototype, 'at')) Object.defineProperty(prototype, 'at', { value: at, writable: true, configurable: true })
}

if (!Reflect.has(Object, 'hasOwn')) {
  const hasOwn = (object: object, name: PropertyKey) => Object.prototype.hasOwnProperty.call(object, name)
  Object.defineProperty(Object, 'hasOwn', { value: hasOwn, writable: true, configurable: true })
}

export {}
