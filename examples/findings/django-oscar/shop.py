#!/usr/bin/env python3
"""A shop made with django-oscar sells more than it has: docs/findings/django-oscar.md.

    shop.py                          all of what follows, in an empty database
    shop.py prepare                  makes the tables and a product
    shop.py customers LEFT NAME…     new ones, each with the product in the basket, of which so many are left
    shop.py buy NAME…                they check out, one after the other
    shop.py race FIRST SECOND        all that the second does is done between the look of the first at the stock and its order

Each checkout is a transaction, as with Django's ATOMIC_REQUESTS: what is in the basket is permitted as the view of the checkout asks it,
then OrderCreator places the order. It connects to PostgreSQL where PGHOST, PGPORT and PGDATABASE say.
"""
import os
import sys
import threading
from decimal import Decimal

import django
from django.conf import settings
from oscar.defaults import *  # noqa: F403 (oscar's own way)

settings.configure(
    **{name: value for name, value in globals().items() if name.isupper()},
    INSTALLED_APPS=["django.contrib." + name for name in ("admin", "auth", "contenttypes", "sessions", "messages", "sites", "flatpages")]
    + ["treebeard", "haystack", "sorl.thumbnail", "widget_tweaks", "django_tables2", "oscar.config.Shop",
                                                                                             "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig"]
    + [f"oscar.apps.{path}.apps.{''.join(part.title() for part in reversed(path.split('.')))}Config" for path in (
        "analytics", "checkout", "address", "shipping", "catalogue", "communication", "partner", "basket", "payment",
        "offer", "order", "customer", "search", "voucher", "wishlists", "dashboard", "dashboard.reports", "dashboard.users",
        "dashboard.orders", "dashboard.catalogue", "dashboard.offers", "dashboard.partners", "dashboard.pages", "dashboard.ranges",
        "dashboard.reviews", "dashboard.vouchers", "dashboard.communications", "dashboard.shipping")],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ.get("PGDATABASE", "postgres"),
                           "USER": os.environ.get("PGUSER", "postgres"), "HOST": os.environ.get("PGHOST"),
                           "PORT": os.environ.get("PGPORT"), "PASSWORD": os.environ.get("PGPASSWORD", "")}},
    HAYSTACK_CONNECTIONS={"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}},
    SITE_ID=1, SECRET_KEY="x", USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.AutoField", MEDIA_ROOT="/tmp", STATIC_URL="/static/",
    MIDDLEWARE=[], ROOT_URLCONF="", TEMPLATES=[])
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from oscar.apps.order.utils import OrderCreator, OrderNumberGenerator  # noqa: E402
from oscar.apps.partner.strategy import Selector  # noqa: E402
from oscar.apps.shipping.methods import Free  # noqa: E402
from oscar.core.loading import get_model  # noqa: E402
from oscar.core.prices import Price  # noqa: E402

Basket, Product = get_model("basket", "Basket"), get_model("catalogue", "Product")
ProductClass, StockRecord = get_model("catalogue", "ProductClass"), get_model("partner", "StockRecord")
Partner = get_model("partner", "Partner")


def prepare():
    call_command("migrate", verbosity=0)
    kind = ProductClass.objects.create(name="thing", requires_shipping=False, track_stock=True)
    product = Product.objects.create(structure="standalone", product_class=kind, title="the last one", is_public=True)
    StockRecord.objects.create(product=product, partner=Partner.objects.create(name="us"), partner_sku="1", price=Decimal("10"),
                               price_currency="EUR", num_in_stock=0)


def checkout(name, meanwhile=lambda: None):
    with transaction.atomic():
        user = User.objects.get(username=name)
        basket = Basket.open.get(owner=user)
        basket.strategy = Selector().strategy(user=user)
        for line in basket.all_lines():
            permitted, why = basket.strategy.fetch_for_line(line).availability.is_purchase_permitted(line.quantity)
            if not permitted:
                print(name, "is refused:", why)
                return
        meanwhile()
        price = Price("EUR", basket.total_excl_tax, basket.total_excl_tax)
        number = OrderNumberGenerator().order_number(basket)
        OrderCreator().place_order(basket, price, Free(), Price("EUR", Decimal(0), Decimal(0)), user=user, order_number=number)
        basket.submit()
        print(name, "has ordered")
    connection.close()


def customers(left, names):
    record = StockRecord.objects.get()
    StockRecord.objects.update(num_in_stock=(record.num_allocated or 0) + left)
    for name in names:
        user = User.objects.create_user(name)
        basket = Basket.objects.create(owner=user)
        basket.strategy = Selector().strategy(user=user)
        basket.add_product(Product.objects.get(), 1)


def race(first, second):
    other = threading.Thread(target=checkout, args=(second,))
    checkout(first, lambda: (other.start(), other.join()))
    record = StockRecord.objects.get()
    print(f"in stock {record.num_in_stock}, sold {record.num_allocated}")


what, *names = sys.argv[1:] or ["all"]
if what in ("prepare", "all"):
    prepare()
if what == "customers":
    customers(int(names[0]), names[1:])
elif what == "buy":
    for name in names:
        checkout(name)
elif what == "race":
    race(*names)
elif what == "all":
    customers(1, ["ann", "bob"])
    race("ann", "bob")
