throw new TypeError('no such setting');
